// Made by protos/generate_csharp.py from taoxr/v1/body.proto: do not edit.
#nullable enable
using System;
using System.Collections.Generic;

namespace Taoxr.Protocol.V1
{
    /// <summary>What the numbers in BodyFrame mean.</summary>
    public sealed class BodyDescription : IMessage
    {
        /// <summary>
        /// Humanoid bones as VRM 1.0 names them ("hips", "leftUpperArm"), in the order of BodyFrame.rotations. The
        /// rest pose is VRM's T-pose, in which every bone's axes are the avatar's: +Y up, +Z to the front. The eyes
        /// are among them; the shapes of the face do not move the gaze.
        /// </summary>
        public List<string> BoneNames { get; } = new List<string>();

        /// <summary>Frames per second of the body track.</summary>
        public double FrameRate { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static BodyDescription Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new BodyDescription();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            BoneNames.Clear();
            FrameRate = 0;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        reader.CountItem();
                        BoneNames.Add(reader.ReadString());
                        break;
                    case 17:
                        FrameRate = reader.ReadDouble();
                        break;
                    default:
                        reader.Skip(tag);
                        break;
                }
            }
        }

        /// <inheritdoc/>
        public int ByteSize()
        {
            var size = 0;
            foreach (var item in BoneNames) size += 1 + WireSize.String(item);
            if (BitConverter.DoubleToInt64Bits(FrameRate) != 0) size += 1 + 8;
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            foreach (var item in BoneNames)
            {
                writer.WriteUInt32(10);
                writer.WriteString(item);
            }
            if (BitConverter.DoubleToInt64Bits(FrameRate) != 0)
            {
                writer.WriteUInt32(17);
                writer.WriteDouble(FrameRate);
            }
        }
    }

    /// <summary>One pose of the body. Bones and their order are announced once per stream (BodyDescription).</summary>
    public sealed class BodyFrame : IMessage
    {
        /// <summary>Time in microseconds, on the clock that the field which holds it names.</summary>
        public long TimeUs { get; set; }

        /// <summary>
        /// Local rotations from the rest pose, as unit quaternions x, y, z, w: four values per name in
        /// BodyDescription.bone_names.
        /// </summary>
        public ValueList<float> Rotations { get; } = new ValueList<float>();

        /// <summary>
        /// Displacement of the hips from the rest pose, +Y up and +Z to the front: x, y, z, in metres for hips that
        /// are 0.95 m above the floor; on another avatar it scales with that height, so that the feet stay put.
        /// </summary>
        public ValueList<float> HipsTranslation { get; } = new ValueList<float>();

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static BodyFrame Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new BodyFrame();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            TimeUs = 0;
            Rotations.Clear();
            HipsTranslation.Clear();
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 8:
                        TimeUs = reader.ReadInt64();
                        break;
                    case 21:
                        Rotations.Add(reader.ReadFloat());
                        break;
                    case 18:
                        reader.ReadPacked(Rotations);
                        break;
                    case 29:
                        HipsTranslation.Add(reader.ReadFloat());
                        break;
                    case 26:
                        reader.ReadPacked(HipsTranslation);
                        break;
                    default:
                        reader.Skip(tag);
                        break;
                }
            }
        }

        /// <inheritdoc/>
        public int ByteSize()
        {
            var size = 0;
            if (TimeUs != 0) size += 1 + WireSize.Int64(TimeUs);
            if (Rotations.Count != 0) size += 1 + WireSize.Delimited(Rotations.Count * 4);
            if (HipsTranslation.Count != 0) size += 1 + WireSize.Delimited(HipsTranslation.Count * 4);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (TimeUs != 0)
            {
                writer.WriteUInt32(8);
                writer.WriteInt64(TimeUs);
            }
            if (Rotations.Count != 0)
            {
                writer.WriteUInt32(18);
                writer.WritePacked(Rotations);
            }
            if (HipsTranslation.Count != 0)
            {
                writer.WriteUInt32(26);
                writer.WritePacked(HipsTranslation);
            }
        }
    }

    /// <summary>Something in the speech that a body or a scene can react to.</summary>
    public sealed class Cue : IMessage
    {
        /// <summary>What it is.</summary>
        public CueKind Kind { get; set; }

        /// <summary>When it begins, in microseconds on the turn's media clock.</summary>
        public long TimeUs { get; set; }

        /// <summary>How long it lasts, in microseconds; 0 or more.</summary>
        public long DurationUs { get; set; }

        /// <summary>How strong it is, 0 to 1.</summary>
        public float Strength { get; set; }

        /// <summary>Of KIND_EMOTION: "neutral", "joy", "sadness", "surprise" or "worry"; else empty.</summary>
        public string Name { get; set; } = "";

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static Cue Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new Cue();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Kind = (CueKind)0;
            TimeUs = 0;
            DurationUs = 0;
            Strength = 0;
            Name = "";
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 8:
                        Kind = (CueKind)reader.ReadInt32();
                        break;
                    case 16:
                        TimeUs = reader.ReadInt64();
                        break;
                    case 24:
                        DurationUs = reader.ReadInt64();
                        break;
                    case 37:
                        Strength = reader.ReadFloat();
                        break;
                    case 42:
                        Name = reader.ReadString();
                        break;
                    default:
                        reader.Skip(tag);
                        break;
                }
            }
        }

        /// <inheritdoc/>
        public int ByteSize()
        {
            var size = 0;
            if (Kind != 0) size += 1 + WireSize.Int32((int)Kind);
            if (TimeUs != 0) size += 1 + WireSize.Int64(TimeUs);
            if (DurationUs != 0) size += 1 + WireSize.Int64(DurationUs);
            if (BitConverter.SingleToInt32Bits(Strength) != 0) size += 1 + 4;
            if (!string.IsNullOrEmpty(Name)) size += 1 + WireSize.String(Name);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (Kind != 0)
            {
                writer.WriteUInt32(8);
                writer.WriteInt32((int)Kind);
            }
            if (TimeUs != 0)
            {
                writer.WriteUInt32(16);
                writer.WriteInt64(TimeUs);
            }
            if (DurationUs != 0)
            {
                writer.WriteUInt32(24);
                writer.WriteInt64(DurationUs);
            }
            if (BitConverter.SingleToInt32Bits(Strength) != 0)
            {
                writer.WriteUInt32(37);
                writer.WriteFloat(Strength);
            }
            if (!string.IsNullOrEmpty(Name))
            {
                writer.WriteUInt32(42);
                writer.WriteString(Name);
            }
        }
    }

    /// <summary>What it is.</summary>
    public enum CueKind
    {
        /// <summary>Never sent.</summary>
        Unspecified = 0,
        /// <summary>A stressed syllable.</summary>
        Stress = 1,
        /// <summary>A gesture's stroke.</summary>
        Beat = 2,
        /// <summary>The mood of what is said.</summary>
        Emotion = 3,
    }

    /// <summary>
    /// How the body moves while nothing is said. Between the turns pieces follow each other without a gap, in real
    /// time, the first one at once; media of a turn with a body take their place.
    /// </summary>
    public sealed class Motion : IMessage
    {
        /// <summary>What the body does.</summary>
        public MotionActivity Activity { get; set; }

        /// <summary>Even track; BodyFrame.time_us is on the clock of the session, in microseconds since it started.</summary>
        public MessageList<BodyFrame> Body { get; } = new MessageList<BodyFrame>(() => new BodyFrame());

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static Motion Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new Motion();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Activity = (MotionActivity)0;
            Body.Clear();
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 8:
                        Activity = (MotionActivity)reader.ReadInt32();
                        break;
                    case 18:
                        reader.ReadMessage(Body.Add());
                        break;
                    default:
                        reader.Skip(tag);
                        break;
                }
            }
        }

        /// <inheritdoc/>
        public int ByteSize()
        {
            var size = 0;
            if (Activity != 0) size += 1 + WireSize.Int32((int)Activity);
            foreach (var item in Body) size += 1 + WireSize.Message(item);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (Activity != 0)
            {
                writer.WriteUInt32(8);
                writer.WriteInt32((int)Activity);
            }
            foreach (var item in Body)
            {
                writer.WriteUInt32(18);
                writer.WriteMessage(item);
            }
        }
    }

    /// <summary>What the body does.</summary>
    public enum MotionActivity
    {
        /// <summary>Never sent.</summary>
        Unspecified = 0,
        /// <summary>Stands at ease.</summary>
        Idle = 1,
        /// <summary>Listens to the user.</summary>
        Listening = 2,
        /// <summary>Thinks of an answer.</summary>
        Thinking = 3,
    }

    /// <summary>
    /// A gesture, layered over what the body does; needs TRACK_BODY. It shows with the next frames that are made,
    /// so within about a second, and takes the place of one that still plays.
    /// </summary>
    public sealed class PlayAction : IMessage
    {
        /// <summary>Which.</summary>
        public PlayActionAction Action { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static PlayAction Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new PlayAction();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Action = (PlayActionAction)0;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 8:
                        Action = (PlayActionAction)reader.ReadInt32();
                        break;
                    default:
                        reader.Skip(tag);
                        break;
                }
            }
        }

        /// <inheritdoc/>
        public int ByteSize()
        {
            var size = 0;
            if (Action != 0) size += 1 + WireSize.Int32((int)Action);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (Action != 0)
            {
                writer.WriteUInt32(8);
                writer.WriteInt32((int)Action);
            }
        }
    }

    /// <summary>Gestures that every server with TRACK_BODY knows.</summary>
    public enum PlayActionAction
    {
        /// <summary>Not valid.</summary>
        Unspecified = 0,
        /// <summary>Raises the right hand and waves.</summary>
        Wave = 1,
        /// <summary>Nods twice.</summary>
        Nod = 2,
        /// <summary>Shakes the head.</summary>
        ShakeHead = 3,
        /// <summary>A small bow.</summary>
        Bow = 4,
        /// <summary>Shrugs.</summary>
        Shrug = 5,
    }

    /// <summary>
    /// Where the avatar shall look from now on, with eyes, head and a little of the chest, as far as they turn;
    /// needs TRACK_BODY.
    /// </summary>
    public sealed class LookAt : IMessage
    {
        private Point? _target;
        private bool _hasTarget;

        private Point OpenTarget()
        {
            _target ??= new Point();
            if (!(_hasTarget)) _target.Clear();
            _hasTarget = true;
            return _target;
        }

        /// <summary>Seen from eyes 1.6 m above the floor. Absent: straight ahead, with glances of its own.</summary>
        public Point? Target
        {
            get => _hasTarget ? _target : null;
            set
            {
                if (value != null) _target = value;
                _hasTarget = value != null;
            }
        }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static LookAt Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new LookAt();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            _hasTarget = false;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        reader.ReadMessage(OpenTarget());
                        break;
                    default:
                        reader.Skip(tag);
                        break;
                }
            }
        }

        /// <inheritdoc/>
        public int ByteSize()
        {
            var size = 0;
            if (_hasTarget) size += 1 + WireSize.Message(_target!);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (_hasTarget)
            {
                writer.WriteUInt32(10);
                writer.WriteMessage(_target!);
            }
        }
    }

    /// <summary>
    /// A point in the avatar's space: metres, right-handed, +Y up; the origin is on the floor between its feet,
    /// and it faces +Z.
    /// </summary>
    public sealed class Point : IMessage
    {
        /// <summary>To the avatar's left; -100 to 100.</summary>
        public float X { get; set; }

        /// <summary>Up; -100 to 100.</summary>
        public float Y { get; set; }

        /// <summary>To the front; -100 to 100.</summary>
        public float Z { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static Point Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new Point();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            X = 0;
            Y = 0;
            Z = 0;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 13:
                        X = reader.ReadFloat();
                        break;
                    case 21:
                        Y = reader.ReadFloat();
                        break;
                    case 29:
                        Z = reader.ReadFloat();
                        break;
                    default:
                        reader.Skip(tag);
                        break;
                }
            }
        }

        /// <inheritdoc/>
        public int ByteSize()
        {
            var size = 0;
            if (BitConverter.SingleToInt32Bits(X) != 0) size += 1 + 4;
            if (BitConverter.SingleToInt32Bits(Y) != 0) size += 1 + 4;
            if (BitConverter.SingleToInt32Bits(Z) != 0) size += 1 + 4;
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (BitConverter.SingleToInt32Bits(X) != 0)
            {
                writer.WriteUInt32(13);
                writer.WriteFloat(X);
            }
            if (BitConverter.SingleToInt32Bits(Y) != 0)
            {
                writer.WriteUInt32(21);
                writer.WriteFloat(Y);
            }
            if (BitConverter.SingleToInt32Bits(Z) != 0)
            {
                writer.WriteUInt32(29);
                writer.WriteFloat(Z);
            }
        }
    }
}
