#nullable enable
using Taoxr.Client;
using Taoxr.Protocol.V1;
using Taoxr.Transport;
using UnityEngine;

namespace Taoxr.Avatar
{
    // What it asks of the server, and what it does with what comes.
    public sealed partial class TaoxrAvatar
    {
        private ConversationConfig Config()
        {
            var config = new ConversationConfig { SystemPrompt = persona.Trim(), EchoCancelled = echoCancelled, PartialTranscripts = _caption != null };
            if (listening != ListenMode.TextOnly)
            {
                config.AudioIn = new AudioFormat { SampleRateHz = MicrophoneStreamer.Rate };
                config.InputMode = listening == ListenMode.PushToTalk ? InputMode.PushToTalk : InputMode.HandsFree;
            }
            config.Tracks.Add(Track.Face);
            if (_body != null && _body.HasHumanoid) config.Tracks.Add(Track.Body);
            foreach (var tool in _tools.Values)
                config.Tools.Add(new Tool { Name = tool.Name, Description = tool.Description, ParametersJsonSchema = tool.Parameters });
            return config;
        }

        private void Wire(ConversationSession session, AvatarPlayback playback)
        {
            playback.VoiceBegan += voice => _voice!.Play(voice);
            playback.Failed += Complain;
            session.Started += started =>
            {
                if (_caption != null) _caption.ShowNote(started.Resumed ? "connected again" : "connected");
            };
            session.Retrying += error => Wait(error);
            session.Ended += error =>
            {
                if (error != null) Complain("the conversation ended: " + Hints.For(error, _options));
            };
            session.TranscriptReceived += (turn, transcript) =>
            {
                if (_caption != null) _caption.ShowUser(transcript.Text);
            };
            session.NoticeReceived += (turn, notice) => Debug.LogWarning("taoxr: " + notice.Message, this);
            session.PongReceived += pong => RoundTripMs = (NowUs() - pong.ClientTimeUs) / 1000.0;
            session.MetricsReceived += (turn, metrics) =>
            {
                if (metrics.StagesMs.TryGetValue("first_media", out var answer)) AnswerMs = answer;
            };
            session.ToolCalled += (turn, call) => Run(session, call);
        }

        private void Run(ConversationSession session, ToolCall call)
        {
            if (!_tools.TryGetValue(call.Name, out var tool)) return;
            var made = new AvatarToolCall(session, call.CallId, call.ArgumentsJson);
            var done = false;
            try
            {
                tool.Run(made);
                done = true;
            }
            finally
            {
                // What it threw goes on to Unity's console; the avatar must not wait for it.
                if (!done) made.Fail("it does not work at the moment");
            }
        }

        private void OnConnection(ConnectionChange change)
        {
            if (change.State == ConnectionState.Connected) _saidWaiting = false;
            if (change.Error is RpcException error)
            {
                if (change.State == ConnectionState.Refused) Complain(Hints.For(error, _options));
                else Wait(error);
            }
            ConnectionChanged?.Invoke(change);
        }

        // Once per loss; attempts go on by themselves.
        private void Wait(RpcException error)
        {
            if (_saidWaiting) return;
            _saidWaiting = true;
            Debug.LogWarning("taoxr: no connection to " + server + ", trying again: " + Hints.For(error, _options), this);
            Say("waiting for the server");
        }

        private void Complain(string what)
        {
            Debug.LogError("taoxr: " + what, this);
            Say(what);
        }

        private void Say(string what)
        {
            if (_caption != null) _caption.ShowNote(what);
            Said?.Invoke(what);
        }
    }
}
