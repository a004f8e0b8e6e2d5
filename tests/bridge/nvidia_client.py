"""Talks to a bridge with NVIDIA's own client; runs in an environment of its own, with nothing of ours.

``nvidia_client.py TARGET`` reads one JSON object per line, and answers each with one line:
{"clip": {...}} (fields: see CLIP in test_a2f_nvidia.py) or {"configs": 0 for YAML, 1 for JSON}.
"""

import json
import sys

import grpc
import numpy as np
from nvidia_ace.audio_pb2 import AudioHeader
from nvidia_audio2face_3d.a2x_export_config_pb2 import ConfigsTypeRequest
from nvidia_audio2face_3d.a2x_export_config_pb2_grpc import A2XExportConfigServiceStub
from nvidia_audio2face_3d.audio2face_pb2_grpc import A2FControllerServiceStub
from nvidia_audio2face_3d.messages_pb2 import (
    AudioWithEmotion,
    AudioWithEmotionStream,
    AudioWithEmotionStreamHeader,
    BlendShapeParameters,
    EmotionPostProcessingParameters,
    EmotionWithTimeCode,
    FaceParameters,
)


def sound(clip: dict) -> bytes:
    """Bursts of a buzz, four in a second: the lips have something to do."""
    rate = clip["rate"]
    time = np.arange(round(clip["seconds"] * rate)) / rate
    buzz = sum(np.sin(2 * np.pi * 120 * k * time) / k for k in range(1, 12))
    return (6000 * buzz * (np.sin(2 * np.pi * 2 * time) > 0)).clip(-32768, 32767).astype("<i2").tobytes()


def requests(clip: dict):
    pcm = sound(clip)
    header = AudioWithEmotionStreamHeader(
        audio_header=AudioHeader(
            audio_format=AudioHeader.AUDIO_FORMAT_PCM,
            channel_count=clip["channels"],
            samples_per_second=clip["rate"],
            bits_per_sample=clip["bits"],
        ),
        face_params=FaceParameters(float_params={"skinStrength": 1.1}),
        emotion_post_processing_params=EmotionPostProcessingParameters(emotion_contrast=1.0),
        blendshape_params=BlendShapeParameters(
            bs_weight_multipliers=clip["multipliers"],
            bs_weight_offsets=clip["offsets"],
            enable_clamping_bs_weight=clip["clamp"],
        ),
    )
    pieces = [pcm[i : i + clip["chunk"]] for i in range(0, len(pcm), clip["chunk"])]
    joy = [EmotionWithTimeCode(time_code=0.0, emotion={"joy": 1.0})]
    for part in clip["order"]:
        if part == "header":
            yield AudioWithEmotionStream(audio_stream_header=header)
        elif part == "end":
            yield AudioWithEmotionStream(end_of_audio=AudioWithEmotionStream.EndOfAudio())
        else:
            for i, piece in enumerate(pieces):
                audio = AudioWithEmotion(audio_buffer=piece, emotions=joy if i == 0 else [])
                yield AudioWithEmotionStream(audio_with_emotion=audio)


def process(stub: A2FControllerServiceStub, clip: dict) -> dict:
    parts, codes, weights, echoed, result = [], [], [], b"", {}
    call = stub.ProcessAudioStream(requests(clip))
    try:
        for answer in call:
            part = answer.WhichOneof("stream_part")
            parts.append(part)
            if part == "animation_data_stream_header":
                header = answer.animation_data_stream_header
                result["names"] = list(header.skel_animation_header.blend_shapes)
                result["rate"] = header.audio_header.samples_per_second
            elif part == "animation_data":
                for frame in answer.animation_data.skel_animation.blend_shape_weights:
                    codes.append(frame.time_code)
                    weights.append(list(frame.values))
                echoed += answer.animation_data.audio.audio_buffer
            elif part == "status":
                result["status"] = [answer.status.code, answer.status.message]
            if len(codes) == clip["cancel_after"]:
                call.cancel()
    except grpc.RpcError as error:
        return {"code": error.code().name, "details": error.details(), "frames": len(codes)}
    array = np.array(weights)
    return {
        **result,
        "code": "OK",
        "parts": parts,
        "codes": codes,
        "peak": array.max(axis=0).tolist(),
        "lowest": array.min(axis=0).tolist(),
        "echo_is_exact": echoed == sound(clip),
    }


def main() -> None:
    with grpc.insecure_channel(sys.argv[1]) as channel:
        for line in sys.stdin:
            task = json.loads(line)
            if "clip" in task:
                answer = process(A2FControllerServiceStub(channel), task["clip"])
            else:
                request = ConfigsTypeRequest(config_type=task["configs"])
                files = A2XExportConfigServiceStub(channel).GetConfigs(request)
                answer = {"files": [[file.name, file.content] for file in files]}
            sys.stdout.write(f"{json.dumps(answer)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
