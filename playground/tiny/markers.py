"""The special tokens, in the order of their ids. The turn, channel and think markers are Gemma 4's."""

PAD = "<pad>"
EOS = "<eos>"
BOS = "<bos>"
UNK = "<unk>"
START_OF_TURN = "<|turn>"
END_OF_TURN = "<turn|>"
START_OF_CHANNEL = "<|channel>"
END_OF_CHANNEL = "<channel|>"
THINK = "<|think|>"
START_OF_IMAGE = "<|image>"
END_OF_IMAGE = "<image|>"
IMAGE = "<|image|>"
FILL = "<|fill|>"

SPECIAL_TOKENS = (
    PAD,
    EOS,
    BOS,
    UNK,
    START_OF_TURN,
    END_OF_TURN,
    START_OF_CHANNEL,
    END_OF_CHANNEL,
    THINK,
    START_OF_IMAGE,
    END_OF_IMAGE,
    IMAGE,
    FILL,
)
PAD_ID, EOS_ID, BOS_ID, UNK_ID, START_OF_TURN_ID, END_OF_TURN_ID = range(6)
START_OF_CHANNEL_ID, END_OF_CHANNEL_ID, THINK_ID = 6, 7, 8
START_OF_IMAGE_ID, END_OF_IMAGE_ID, IMAGE_ID, FILL_ID = 9, 10, 11, 12
END_IDS = (EOS_ID, END_OF_TURN_ID)
"""What ends an answer in the generation configuration."""
