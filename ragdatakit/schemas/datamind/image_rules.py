"""The rules of images in DataMind chunks (and of the images that triples name).

Facts: haolpku/DataMind, commit 5a8f883. Images are v1's (`IMAGE_EMBEDDING_MODE` disabled, vlm_describe or clip); v2
reads the text of such chunks and nothing else.
"""

from __future__ import annotations

from ragdatakit.schemas.declarations import Rule

_V1 = "modules/rag/indexer.py:load_pre_chunked"
_MODEL = "schema/types.py:RAGChunk"

IMAGE_RULES: tuple[Rule, ...] = (
    Rule(
        "DM251 missing-image error",
        summary="An image_path where there is no file.",
        message="image_path {value} is {found}",
        upstream={
            "v1": "makes no image node (clip), or loses the description, and the chunk too if its text is empty "
            "(vlm_describe)"
        },
        hint="add the image; the path is relative to the profile folder, with / between folders, and case matters",
        bad='{"text": "a", "image_path": "images/none.png"}',
        good='{"text": "a", "image_path": "images/moon.png", "modality": "text_image"}',
        source=_V1,
    ),
    Rule(
        "DM252 image-path-not-string error",
        summary="An image_path that is neither a string nor null.",
        message="image_path is {value}, expected a string",
        upstream={"v1": "skips the line with a warning"},
        hint="write the path as a string; one chunk has one image",
        bad='{"text": "a", "image_path": ["a.png"]}',
        good='{"text": "a", "image_path": "images/a.png", "modality": "text_image"}',
        source=_MODEL,
    ),
    Rule(
        "DM253 image-outside-profile warning",
        summary="An image_path that is absolute, or that leaves the profile by .. or a symbolic link.",
        message="image_path {value} {reason}; the file was not looked at",
        upstream={"v1": "opens whatever is there and may send it to the vision model"},
        hint="copy the image into the profile's images/ and name it relative to the profile folder",
        bad='{"text": "a", "image_path": "../../key.png"}',
        good='{"text": "a", "image_path": "images/key.png", "modality": "text_image"}',
        source="modules/rag/indexer.py:_resolve_image_path",
    ),
    Rule(
        "DM254 not-an-image warning",
        summary="An image_path whose file is not a PNG, JPEG, GIF or WebP, by its content or by its name.",
        message="image_path {value} {reason}",
        upstream={"v1": "sends it to the model anyway, as image/png where the ending is unknown"},
        hint="convert the picture to png, jpg, gif or webp, with the ending to match",
        bad='{"text": "a", "image_path": "images/moon.bmp"}',
        good='{"text": "a", "image_path": "images/moon.png", "modality": "text_image"}',
        source="modules/rag/indexer.py:_describe_image_with_vlm",
    ),
    Rule(
        "DM255 modality-without-image error",
        summary="A chunk of modality image or text_image without an image_path.",
        message="modality is {value}, and there is no image_path",
        upstream={"v1": "takes the chunk for text, and drops it silently when its text is empty"},
        hint="add image_path, or set the modality to text",
        bad='{"text": "", "modality": "image"}',
        good='{"text": "a", "modality": "text_image", "image_path": "images/moon.png"}',
        source=_V1,
    ),
    Rule(
        "DM256 image-with-text-modality warning per-file",
        summary="A chunk with an image_path whose modality is text or not given.",
        message="there is an image_path, and modality is {state}",
        upstream={"v1": "processes the image anyway, and does not mark the chunk as one with an image"},
        hint="set modality to image or text_image, or remove image_path",
        bad='{"text": "a", "image_path": "images/moon.png"}',
        good='{"text": "a", "image_path": "images/moon.png", "modality": "text_image"}',
        source=_V1,
    ),
    Rule(
        "DM257 image-only-chunk error",
        summary="A chunk with an image and an empty text.",
        message="text is empty, there is only an image",
        upstream={
            "v1": "drops it silently, description included, while IMAGE_EMBEDDING_MODE is disabled (the default)",
            "v2": "drops it silently, description included",
        },
        hint="put the description into text; with v1 in vlm_describe or clip mode, ignore this rule",
        bad='{"text": "", "image_path": "images/moon.png", "modality": "image"}',
        good='{"text": "Moon phases in a row.", "image_path": "images/moon.png", "modality": "text_image"}',
        source=f"{_V1}, datamind/capabilities/kb/indexer.py:_iter_pre_chunked",
    ),
    Rule(
        "DM258 empty-image-path warning",
        summary="An image_path that is an empty string.",
        message="image_path is empty",
        upstream={"v1": "treats the chunk as one without an image"},
        hint="leave image_path out",
        fix="safe: remove the empty path",
        bad='{"text": "a", "image_path": ""}',
        good='{"text": "a"}',
        source=_V1,
    ),
    Rule(
        "DM259 unused-image warning",
        summary="A file in images/ that no chunk and no triple names.",
        message="no chunk names this image",
        upstream={"v1": "never opens the file"},
        hint="name it in a chunk's image_path, or delete it",
        bad='images/moon.png, and no chunk or triple with "images/moon.png"',
        good='images/moon.png, and {"text": "Moon phases.", "image_path": "images/moon.png", "modality": "text_image"}',
        source=_V1,
    ),
    Rule(
        "DM260 image-description-not-string error",
        summary="An image_description that is neither a string nor null.",
        message="image_description is {value}, expected a string",
        upstream={"v1": "skips the line with a warning"},
        hint="write the description as a string",
        bad='{"text": "a", "image_description": ["moon"]}',
        good='{"text": "a", "image_description": "moon"}',
        source=_MODEL,
    ),
    Rule(
        "DM261 missing-entity-image warning",
        summary="A triple's subject_properties.image or object_properties.image that is not a file of the profile.",
        message="{field} names the image {value}, which {reason}",
        upstream={"v1": "stores the path on the entity; whoever opens it later finds nothing"},
        hint="add the image to the profile, or remove the property",
        bad='{"subject": "A", "relation": "r", "object": "B", "subject_properties": {"image": "images/none.png"}}',
        good='{"subject": "A", "relation": "r", "object": "B", "subject_properties": {"image": "images/a.png"}}',
        source="schema/types.py:GraphTriple",
    ),
)
