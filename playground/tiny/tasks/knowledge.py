"""What is learnt by heart: small facts, opposites, small talk. These families are closed (see `Family`)."""

from random import Random

from playground.tiny.tasks.task import Family, Task
from playground.tiny.tasks.words import NAMES, article

CAPITALS = {
    "Austria": "Vienna",
    "Bulgaria": "Sofia",
    "Canada": "Ottawa",
    "Cuba": "Havana",
    "Ecuador": "Quito",
    "Egypt": "Cairo",
    "England": "London",
    "France": "Paris",
    "Germany": "Berlin",
    "Greece": "Athens",
    "India": "Delhi",
    "Ireland": "Dublin",
    "Italy": "Rome",
    "Japan": "Tokyo",
    "Kenya": "Nairobi",
    "Norway": "Oslo",
    "Peru": "Lima",
    "Poland": "Warsaw",
    "Portugal": "Lisbon",
    "South Korea": "Seoul",
    "Spain": "Madrid",
    "Switzerland": "Bern",
}
SOUNDS = {
    "bee": "buzz",
    "cat": "meow",
    "cow": "moo",
    "crow": "caw",
    "dog": "woof",
    "duck": "quack",
    "frog": "croak",
    "hen": "cluck",
    "lion": "roar",
    "mouse": "squeak",
    "owl": "hoot",
    "pig": "oink",
    "sheep": "baa",
    "snake": "hiss",
}
COLORED = {
    "a banana": "yellow",
    "a carrot": "orange",
    "a cherry": "red",
    "a flamingo": "pink",
    "a lemon": "yellow",
    "a lime": "green",
    "coal": "black",
    "grass": "green",
    "milk": "white",
    "snow": "white",
    "the sea": "blue",
    "the sky": "blue",
    "the sun": "yellow",
}
PAIRS = (
    "hot cold,big small,up down,fast slow,happy sad,day night,open closed,hard soft,light dark,full empty,young old,"
    "rich poor,wet dry,high low,early late,strong weak,loud quiet,clean dirty,near far,left right,first last,"
    "long short,true false,wide narrow"
)
OPPOSITES = {a: b for pair in PAIRS.split(",") for a, b in (pair.split(), reversed(pair.split()))}
TALK: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (
        ("Hi", "Hello", "Hey", "Hi there!", "Hello!", "Good morning!"),
        ("Hello! What shall I write?", "Hi! Ask me for a story, a sum or a Sudoku."),
    ),
    (
        ("Who are you?", "What are you?", "Tell me about yourself."),
        ("I am a tiny diffusion model. I write all the words at once.", "I am a very small diffusion language model."),
    ),
    (("Thanks", "Thank you!", "Thanks a lot", "Thank you very much."), ("You are welcome!", "My pleasure!")),
    (("Bye", "Goodbye", "See you", "Good night!"), ("Goodbye!", "Bye! Come back soon.")),
    (
        ("What can you do?", "Help", "What can I ask you?"),
        ("I can add, sort, count and spell, fill in holes, solve a Sudoku, write JSON, Python, verse and stories.",),
    ),
    (("How are you?", "How do you do?"), ("I am well, thank you!", "A little noisy, but clearing up.")),
)


def _capital(rng: Random) -> tuple[str, list[str], str]:
    country = rng.choice(sorted(CAPITALS))
    city = CAPITALS[country]
    if rng.random() < 0.3:
        asks = [
            f"{city} is the capital of which country?",
            f"Which country has the capital {city}?",
            f"Name the country of which {city} is the capital.",
        ]
        return f"country of {city}", asks, f"{city} is the capital of {country}."
    asks = [f"What is the capital of {country}?", f"Name the capital of {country}.", f"Capital of {country}?"]
    return f"capital of {country}", asks, f"The capital of {country} is {city}."


def _sound(rng: Random) -> tuple[str, list[str], str]:
    animal = rng.choice(sorted(SOUNDS))
    one = article(animal)
    asks = [f"What sound does {one} make?", f"What does {one} say?", f"Which sound comes from {one}?"]
    return f"sound of {animal}", asks, f"{one.capitalize()} says {SOUNDS[animal]}."


def _color(rng: Random) -> tuple[str, list[str], str]:
    thing = rng.choice(sorted(COLORED))
    asks = [f"What color is {thing}?", f"Tell me the color of {thing}.", f"Which color has {thing}?"]
    return f"color of {thing}", asks, f"{thing[0].upper()}{thing[1:]} is {COLORED[thing]}."


def _facts(rng: Random) -> Task:
    fact, asks, answer = rng.choice((_capital, _capital, _sound, _color))(rng)
    prompt = rng.choice(asks)
    return Task("facts", prompt, answer, prompt, data={"fact": fact})


def _opposites(rng: Random) -> Task:
    word = rng.choice(sorted(OPPOSITES))
    asks = (f"What is the opposite of {word}?", f"Give the opposite of {word}.", f"Opposite of {word}?")
    prompt = rng.choice(asks)
    return Task("opposites", prompt, f"The opposite of {word} is {OPPOSITES[word]}.", prompt)


def _chat(rng: Random) -> Task:
    name = rng.choice(NAMES)
    if rng.random() < 0.4:
        prompt = rng.choice((f"Hi, I am {name}.", f"Hello, my name is {name}.", f"{name} here, hi!", f"I am {name}."))
        replies: tuple[str, ...] = (f"Hello {name}! What shall I write?", f"Nice to meet you, {name}!")
    else:
        asks, replies = rng.choice(TALK)
        opening = rng.choice(("", "", f"{name} here. ", "Please: ", "Hey! ", "So, "))
        ask = rng.choice(asks)
        if not opening:  # all of them known: held out are openings that a phrase was never heard with
            return Task("chat", ask, rng.choice(replies), "as it stands", data={"replies": replies})
        prompt = opening + ask
    return Task("chat", prompt, rng.choice(replies), prompt, data={"replies": replies})


def _check_chat(task: Task, text: str) -> bool:
    return text in task.data["replies"]


FAMILIES = (
    Family("facts", _facts, weight=1.0, closed=True, teaches="known at once: two steps"),
    Family("opposites", _opposites, weight=0.6, closed=True, teaches="known at once: two steps"),
    Family("chat", _chat, _check_chat, weight=0.4, closed=True, teaches="small talk"),
)
