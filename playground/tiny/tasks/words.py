"""The small vocabulary that the tasks are written in."""

from random import Random


def listed(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


ANIMALS = listed(
    "bear cat crow deer dog duck fox frog goat hare hen horse lion mouse mole otter owl pig rabbit seal sheep swan "
    "tiger toad wolf"
)
FRUITS = listed("apple apricot banana cherry date fig grape kiwi lemon lime mango melon orange peach pear plum")
COLORS = listed("black blue brown gold green grey orange pink purple red silver white yellow")
THINGS = listed("bell book box coin cup drum flag hat key kite lamp map ring rope shell spoon stone sword")
PLACES = listed("barn castle cave city desert farm forest garden harbor island meadow mill river tower valley village")
MOODS = listed("brave calm clever curious gentle happy kind lazy proud quiet shy small tired wise young")
NAMES = listed(
    "Ada Amy Anna Ben Cleo Dan Ella Emma Eva Finn Fred Gus Hana Hugo Ida Ivan Jane Joel Kim Lena Leo Lily Lucy Max "
    "Mia Nina Nora Olga Omar Oscar Paul Rosa Ruth Sam Sara Tara Theo Tim Tom Vera Will Yuri Zoe"
)
CITIES = listed(
    "Athens Berlin Bern Cairo Delhi Dublin Havana Lima Lisbon London Madrid Nairobi Oslo Ottawa Paris Prague Quito "
    "Rome Seoul Sofia Tokyo Vienna Warsaw"
)
KINDS: dict[str, list[str]] = {
    "animals": ANIMALS,
    "fruits": FRUITS,
    "colors": COLORS,
    "things": THINGS,
    "places": PLACES,
}
OTHERS = listed(
    "air arm art baby back bag ball band bank bath beach bed bike bird boat body bone bread bridge bus cake car card "
    "chair child class clock cloud coat corn dance day desk dinner doctor door dream dress ear earth egg evening eye "
    "face family father field film finger fire fish floor flower foot friend game gate gift girl glass grass hair hand "
    "head heart hill home hope horn house ice idea iron jam job juice king kitchen knee lake land leaf leg letter "
    "light line lunch milk minute money moon morning mother mountain mouth music name neck nest night nose number "
    "ocean office oil page paint paper park party pen phone picture plant plate pocket pond queen rain road rock roof "
    "room root rose salt sand school sea seat shirt shoe shop sister sky sleep smile snow song soup star story street "
    "sugar summer sun table tail tea teacher thing time tooth town toy train tree truck uncle voice wall watch water "
    "wave week wheel wind window wing winter wood word world yard year"
)
WORDS = sorted({*ANIMALS, *FRUITS, *COLORS, *THINGS, *PLACES, *MOODS, *OTHERS})

_ONSETS = listed("b c d f g h j k l m n p r s t v w z bl br ch cl dr fl gr pl pr sh sl st th tr")
_VOWELS = listed("a e i o u a e i o u ai ea ee oo ou")
_CODAS = ["", "", "", *listed("b d g k l m n p r s t x ck ll nd ng rd st")]


def invented_word(rng: Random) -> str:
    """A pronounceable word of three to eight letters that need not exist: spelling cannot be learnt by heart."""
    while True:
        syllables = rng.choice((1, 2, 2, 2))
        word = "".join(rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS) for _ in range(syllables))
        if 3 <= len(word) <= 8:
            return word


def any_word(rng: Random) -> str:
    """A real word, or one time in four an invented one."""
    return invented_word(rng) if rng.random() < 0.25 else rng.choice(WORDS)


def article(word: str) -> str:
    """The word with its indefinite article."""
    return ("an " if word[0] in "aeiou" else "a ") + word
