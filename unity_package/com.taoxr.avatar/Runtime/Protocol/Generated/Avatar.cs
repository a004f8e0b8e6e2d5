// Made by protos/generate_csharp.py from taoxr/v1/avatar.proto: do not edit.
#nullable enable
using System;
using System.Collections.Generic;

namespace Taoxr.Protocol.V1
{
    /// <summary>An avatar that can be downloaded.</summary>
    public sealed class Avatar : IMessage
    {
        /// <summary>Name for requests: 1 to 64 letters, digits, "_", "-" or ".".</summary>
        public string AvatarId { get; set; } = "";

        /// <summary>Name for people.</summary>
        public string Name { get; set; } = "";

        /// <summary>SPDX identifier of the licence.</summary>
        public string Licence { get; set; } = "";

        /// <summary>Who made what, one line each.</summary>
        public List<string> Credits { get; } = new List<string>();

        /// <summary>Size of the file in bytes; more than 0.</summary>
        public long SizeBytes { get; set; }

        /// <summary>SHA-256 of the file, 64 hexadecimal digits.</summary>
        public string Sha256 { get; set; } = "";

        /// <summary>Coefficient space that its face takes, such as "arkit52".</summary>
        public string Space { get; set; } = "";

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static Avatar Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new Avatar();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            AvatarId = "";
            Name = "";
            Licence = "";
            Credits.Clear();
            SizeBytes = 0;
            Sha256 = "";
            Space = "";
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        AvatarId = reader.ReadString();
                        break;
                    case 18:
                        Name = reader.ReadString();
                        break;
                    case 26:
                        Licence = reader.ReadString();
                        break;
                    case 34:
                        reader.CountItem();
                        Credits.Add(reader.ReadString());
                        break;
                    case 40:
                        SizeBytes = reader.ReadInt64();
                        break;
                    case 50:
                        Sha256 = reader.ReadString();
                        break;
                    case 58:
                        Space = reader.ReadString();
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
            if (!string.IsNullOrEmpty(AvatarId)) size += 1 + WireSize.String(AvatarId);
            if (!string.IsNullOrEmpty(Name)) size += 1 + WireSize.String(Name);
            if (!string.IsNullOrEmpty(Licence)) size += 1 + WireSize.String(Licence);
            foreach (var item in Credits) size += 1 + WireSize.String(item);
            if (SizeBytes != 0) size += 1 + WireSize.Int64(SizeBytes);
            if (!string.IsNullOrEmpty(Sha256)) size += 1 + WireSize.String(Sha256);
            if (!string.IsNullOrEmpty(Space)) size += 1 + WireSize.String(Space);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(AvatarId))
            {
                writer.WriteUInt32(10);
                writer.WriteString(AvatarId);
            }
            if (!string.IsNullOrEmpty(Name))
            {
                writer.WriteUInt32(18);
                writer.WriteString(Name);
            }
            if (!string.IsNullOrEmpty(Licence))
            {
                writer.WriteUInt32(26);
                writer.WriteString(Licence);
            }
            foreach (var item in Credits)
            {
                writer.WriteUInt32(34);
                writer.WriteString(item);
            }
            if (SizeBytes != 0)
            {
                writer.WriteUInt32(40);
                writer.WriteInt64(SizeBytes);
            }
            if (!string.IsNullOrEmpty(Sha256))
            {
                writer.WriteUInt32(50);
                writer.WriteString(Sha256);
            }
            if (!string.IsNullOrEmpty(Space))
            {
                writer.WriteUInt32(58);
                writer.WriteString(Space);
            }
        }
    }

    /// <summary>Asks for all avatars.</summary>
    public sealed class ListAvatarsRequest : IMessage
    {
        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static ListAvatarsRequest Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new ListAvatarsRequest();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                reader.Skip(tag);
            }
        }

        /// <inheritdoc/>
        public int ByteSize()
        {
            var size = 0;
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
        }
    }

    /// <summary>All avatars.</summary>
    public sealed class ListAvatarsResponse : IMessage
    {
        /// <summary>The default one first, the others by id.</summary>
        public MessageList<Avatar> Avatars { get; } = new MessageList<Avatar>(() => new Avatar());

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static ListAvatarsResponse Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new ListAvatarsResponse();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Avatars.Clear();
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        reader.ReadMessage(Avatars.Add());
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
            foreach (var item in Avatars) size += 1 + WireSize.Message(item);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            foreach (var item in Avatars)
            {
                writer.WriteUInt32(10);
                writer.WriteMessage(item);
            }
        }
    }

    /// <summary>Whose rig is wanted.</summary>
    public sealed class GetRigRequest : IMessage
    {
        /// <summary>Avatar.avatar_id; empty means the default one.</summary>
        public string AvatarId { get; set; } = "";

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static GetRigRequest Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new GetRigRequest();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            AvatarId = "";
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        AvatarId = reader.ReadString();
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
            if (!string.IsNullOrEmpty(AvatarId)) size += 1 + WireSize.String(AvatarId);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(AvatarId))
            {
                writer.WriteUInt32(10);
                writer.WriteString(AvatarId);
            }
        }
    }

    /// <summary>What drives an avatar.</summary>
    public sealed class GetRigResponse : IMessage
    {
        private Position? _leftEye;
        private bool _hasLeftEye;

        private Position OpenLeftEye()
        {
            _leftEye ??= new Position();
            if (!(_hasLeftEye)) _leftEye.Clear();
            _hasLeftEye = true;
            return _leftEye;
        }

        private Position? _rightEye;
        private bool _hasRightEye;

        private Position OpenRightEye()
        {
            _rightEye ??= new Position();
            if (!(_hasRightEye)) _rightEye.Clear();
            _hasRightEye = true;
            return _rightEye;
        }

        private Position? _mouth;
        private bool _hasMouth;

        private Position OpenMouth()
        {
            _mouth ??= new Position();
            if (!(_hasMouth)) _mouth.Clear();
            _hasMouth = true;
            return _mouth;
        }

        private Position? _head;
        private bool _hasHead;

        private Position OpenHead()
        {
            _head ??= new Position();
            if (!(_hasHead)) _head.Clear();
            _hasHead = true;
            return _head;
        }

        /// <summary>Avatar.avatar_id.</summary>
        public string AvatarId { get; set; } = "";

        /// <summary>Coefficient space of its face, such as "arkit52".</summary>
        public string Space { get; set; } = "";

        /// <summary>Names of the coefficients, in the order that the avatar takes them.</summary>
        public List<string> BlendshapeNames { get; } = new List<string>();

        /// <summary>Names of the bones, in the order of the avatar's pose.</summary>
        public List<string> BoneNames { get; } = new List<string>();

        /// <summary>The bone of the head.</summary>
        public string HeadBone { get; set; } = "";

        /// <summary>The bone of the avatar's left eyeball.</summary>
        public string LeftEyeBone { get; set; } = "";

        /// <summary>The bone of the avatar's right eyeball.</summary>
        public string RightEyeBone { get; set; } = "";

        /// <summary>Height above the ground, in metres; more than 0.</summary>
        public double HeightM { get; set; }

        /// <summary>Centre of the left eye at rest.</summary>
        public Position? LeftEye
        {
            get => _hasLeftEye ? _leftEye : null;
            set
            {
                if (value != null) _leftEye = value;
                _hasLeftEye = value != null;
            }
        }

        /// <summary>Centre of the right eye at rest.</summary>
        public Position? RightEye
        {
            get => _hasRightEye ? _rightEye : null;
            set
            {
                if (value != null) _rightEye = value;
                _hasRightEye = value != null;
            }
        }

        /// <summary>Centre of the lips at rest.</summary>
        public Position? Mouth
        {
            get => _hasMouth ? _mouth : null;
            set
            {
                if (value != null) _mouth = value;
                _hasMouth = value != null;
            }
        }

        /// <summary>Centre of the head at rest.</summary>
        public Position? Head
        {
            get => _hasHead ? _head : null;
            set
            {
                if (value != null) _head = value;
                _hasHead = value != null;
            }
        }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static GetRigResponse Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new GetRigResponse();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            AvatarId = "";
            Space = "";
            BlendshapeNames.Clear();
            BoneNames.Clear();
            HeadBone = "";
            LeftEyeBone = "";
            RightEyeBone = "";
            HeightM = 0;
            _hasLeftEye = false;
            _hasRightEye = false;
            _hasMouth = false;
            _hasHead = false;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        AvatarId = reader.ReadString();
                        break;
                    case 18:
                        Space = reader.ReadString();
                        break;
                    case 26:
                        reader.CountItem();
                        BlendshapeNames.Add(reader.ReadString());
                        break;
                    case 34:
                        reader.CountItem();
                        BoneNames.Add(reader.ReadString());
                        break;
                    case 42:
                        HeadBone = reader.ReadString();
                        break;
                    case 50:
                        LeftEyeBone = reader.ReadString();
                        break;
                    case 58:
                        RightEyeBone = reader.ReadString();
                        break;
                    case 65:
                        HeightM = reader.ReadDouble();
                        break;
                    case 74:
                        reader.ReadMessage(OpenLeftEye());
                        break;
                    case 82:
                        reader.ReadMessage(OpenRightEye());
                        break;
                    case 90:
                        reader.ReadMessage(OpenMouth());
                        break;
                    case 98:
                        reader.ReadMessage(OpenHead());
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
            if (!string.IsNullOrEmpty(AvatarId)) size += 1 + WireSize.String(AvatarId);
            if (!string.IsNullOrEmpty(Space)) size += 1 + WireSize.String(Space);
            foreach (var item in BlendshapeNames) size += 1 + WireSize.String(item);
            foreach (var item in BoneNames) size += 1 + WireSize.String(item);
            if (!string.IsNullOrEmpty(HeadBone)) size += 1 + WireSize.String(HeadBone);
            if (!string.IsNullOrEmpty(LeftEyeBone)) size += 1 + WireSize.String(LeftEyeBone);
            if (!string.IsNullOrEmpty(RightEyeBone)) size += 1 + WireSize.String(RightEyeBone);
            if (BitConverter.DoubleToInt64Bits(HeightM) != 0) size += 1 + 8;
            if (_hasLeftEye) size += 1 + WireSize.Message(_leftEye!);
            if (_hasRightEye) size += 1 + WireSize.Message(_rightEye!);
            if (_hasMouth) size += 1 + WireSize.Message(_mouth!);
            if (_hasHead) size += 1 + WireSize.Message(_head!);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(AvatarId))
            {
                writer.WriteUInt32(10);
                writer.WriteString(AvatarId);
            }
            if (!string.IsNullOrEmpty(Space))
            {
                writer.WriteUInt32(18);
                writer.WriteString(Space);
            }
            foreach (var item in BlendshapeNames)
            {
                writer.WriteUInt32(26);
                writer.WriteString(item);
            }
            foreach (var item in BoneNames)
            {
                writer.WriteUInt32(34);
                writer.WriteString(item);
            }
            if (!string.IsNullOrEmpty(HeadBone))
            {
                writer.WriteUInt32(42);
                writer.WriteString(HeadBone);
            }
            if (!string.IsNullOrEmpty(LeftEyeBone))
            {
                writer.WriteUInt32(50);
                writer.WriteString(LeftEyeBone);
            }
            if (!string.IsNullOrEmpty(RightEyeBone))
            {
                writer.WriteUInt32(58);
                writer.WriteString(RightEyeBone);
            }
            if (BitConverter.DoubleToInt64Bits(HeightM) != 0)
            {
                writer.WriteUInt32(65);
                writer.WriteDouble(HeightM);
            }
            if (_hasLeftEye)
            {
                writer.WriteUInt32(74);
                writer.WriteMessage(_leftEye!);
            }
            if (_hasRightEye)
            {
                writer.WriteUInt32(82);
                writer.WriteMessage(_rightEye!);
            }
            if (_hasMouth)
            {
                writer.WriteUInt32(90);
                writer.WriteMessage(_mouth!);
            }
            if (_hasHead)
            {
                writer.WriteUInt32(98);
                writer.WriteMessage(_head!);
            }
        }
    }

    /// <summary>
    /// A place in the frame of the avatar: right-handed, +Y up; it stands on the origin and faces +Z, and
    /// its left is +X.
    /// </summary>
    public sealed class Position : IMessage
    {
        /// <summary>To the avatar's left, in metres.</summary>
        public double XM { get; set; }

        /// <summary>Up, in metres.</summary>
        public double YM { get; set; }

        /// <summary>To the avatar's front, in metres.</summary>
        public double ZM { get; set; }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static Position Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new Position();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            XM = 0;
            YM = 0;
            ZM = 0;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 9:
                        XM = reader.ReadDouble();
                        break;
                    case 17:
                        YM = reader.ReadDouble();
                        break;
                    case 25:
                        ZM = reader.ReadDouble();
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
            if (BitConverter.DoubleToInt64Bits(XM) != 0) size += 1 + 8;
            if (BitConverter.DoubleToInt64Bits(YM) != 0) size += 1 + 8;
            if (BitConverter.DoubleToInt64Bits(ZM) != 0) size += 1 + 8;
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (BitConverter.DoubleToInt64Bits(XM) != 0)
            {
                writer.WriteUInt32(9);
                writer.WriteDouble(XM);
            }
            if (BitConverter.DoubleToInt64Bits(YM) != 0)
            {
                writer.WriteUInt32(17);
                writer.WriteDouble(YM);
            }
            if (BitConverter.DoubleToInt64Bits(ZM) != 0)
            {
                writer.WriteUInt32(25);
                writer.WriteDouble(ZM);
            }
        }
    }

    /// <summary>Which part of which file is wanted.</summary>
    public sealed class DownloadAvatarRequest : IMessage
    {
        /// <summary>Avatar.avatar_id; empty means the default one.</summary>
        public string AvatarId { get; set; } = "";

        /// <summary>First byte wanted, 0 to the size of the file.</summary>
        public long Offset { get; set; }

        /// <summary>Avatar.sha256 of the download that goes on; required when `offset` is not 0.</summary>
        public string Sha256 { get; set; } = "";

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static DownloadAvatarRequest Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new DownloadAvatarRequest();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            AvatarId = "";
            Offset = 0;
            Sha256 = "";
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        AvatarId = reader.ReadString();
                        break;
                    case 16:
                        Offset = reader.ReadInt64();
                        break;
                    case 26:
                        Sha256 = reader.ReadString();
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
            if (!string.IsNullOrEmpty(AvatarId)) size += 1 + WireSize.String(AvatarId);
            if (Offset != 0) size += 1 + WireSize.Int64(Offset);
            if (!string.IsNullOrEmpty(Sha256)) size += 1 + WireSize.String(Sha256);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (!string.IsNullOrEmpty(AvatarId))
            {
                writer.WriteUInt32(10);
                writer.WriteString(AvatarId);
            }
            if (Offset != 0)
            {
                writer.WriteUInt32(16);
                writer.WriteInt64(Offset);
            }
            if (!string.IsNullOrEmpty(Sha256))
            {
                writer.WriteUInt32(26);
                writer.WriteString(Sha256);
            }
        }
    }

    /// <summary>A piece of the file.</summary>
    public sealed class DownloadAvatarResponse : IMessage
    {
        /// <summary>Which of the fields of Payload is set.</summary>
        public enum PayloadOneofCase
        {
            None = 0,
            Avatar = 1,
            Chunk = 2,
        }

        private Avatar? _avatar;

        private Avatar OpenAvatar()
        {
            _avatar ??= new Avatar();
            if (!(PayloadCase == PayloadOneofCase.Avatar)) _avatar.Clear();
            PayloadCase = PayloadOneofCase.Avatar;
            return _avatar;
        }

        private FileChunk? _chunk;

        private FileChunk OpenChunk()
        {
            _chunk ??= new FileChunk();
            if (!(PayloadCase == PayloadOneofCase.Chunk)) _chunk.Clear();
            PayloadCase = PayloadOneofCase.Chunk;
            return _chunk;
        }

        /// <summary>Which of them is set.</summary>
        public PayloadOneofCase PayloadCase { get; private set; }

        /// <summary>Whose file this is; the first response, and only that.</summary>
        public Avatar? Avatar
        {
            get => PayloadCase == PayloadOneofCase.Avatar ? _avatar : null;
            set
            {
                if (value != null) _avatar = value;
                if (value != null) PayloadCase = PayloadOneofCase.Avatar;
                else if (PayloadCase == PayloadOneofCase.Avatar) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <summary>The next bytes.</summary>
        public FileChunk? Chunk
        {
            get => PayloadCase == PayloadOneofCase.Chunk ? _chunk : null;
            set
            {
                if (value != null) _chunk = value;
                if (value != null) PayloadCase = PayloadOneofCase.Chunk;
                else if (PayloadCase == PayloadOneofCase.Chunk) PayloadCase = PayloadOneofCase.None;
            }
        }

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static DownloadAvatarResponse Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new DownloadAvatarResponse();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            PayloadCase = PayloadOneofCase.None;
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 10:
                        reader.ReadMessage(OpenAvatar());
                        break;
                    case 18:
                        reader.ReadMessage(OpenChunk());
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
            if (PayloadCase == PayloadOneofCase.Avatar) size += 1 + WireSize.Message(_avatar!);
            if (PayloadCase == PayloadOneofCase.Chunk) size += 1 + WireSize.Message(_chunk!);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (PayloadCase == PayloadOneofCase.Avatar)
            {
                writer.WriteUInt32(10);
                writer.WriteMessage(_avatar!);
            }
            if (PayloadCase == PayloadOneofCase.Chunk)
            {
                writer.WriteUInt32(18);
                writer.WriteMessage(_chunk!);
            }
        }
    }

    /// <summary>A piece of a file; pieces follow each other without a gap.</summary>
    public sealed class FileChunk : IMessage
    {
        /// <summary>Position of the first byte in the file.</summary>
        public long Offset { get; set; }

        /// <summary>1 byte to 64 KiB.</summary>
        public ByteBuffer Data { get; } = new ByteBuffer();

        /// <inheritdoc/>
        public int CachedSize { get; private set; }

        /// <summary>The message that the bytes are.</summary>
        /// <exception cref="ProtocolException">They are no such message.</exception>
        public static FileChunk Parse(ReadOnlySpan<byte> bytes)
        {
            var message = new FileChunk();
            Messages.Parse(message, bytes);
            return message;
        }

        /// <inheritdoc/>
        public void Clear()
        {
            Offset = 0;
            Data.Clear();
        }

        /// <inheritdoc/>
        public void MergeFrom(ref WireReader reader)
        {
            while (reader.ReadTag(out var tag))
            {
                switch (tag)
                {
                    case 8:
                        Offset = reader.ReadInt64();
                        break;
                    case 18:
                        reader.ReadBytes(Data);
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
            if (Offset != 0) size += 1 + WireSize.Int64(Offset);
            if (Data.Length != 0) size += 1 + WireSize.Bytes(Data);
            CachedSize = size;
            return size;
        }

        /// <inheritdoc/>
        public void WriteTo(ref WireWriter writer)
        {
            if (Offset != 0)
            {
                writer.WriteUInt32(8);
                writer.WriteInt64(Offset);
            }
            if (Data.Length != 0)
            {
                writer.WriteUInt32(18);
                writer.WriteBytes(Data);
            }
        }
    }

    /// <summary>The avatars that this server can give to a renderer. An avatar is one `.nnr` file.</summary>
    public static class AvatarService
    {
        /// <summary>All avatars, the default one first.</summary>
        public static readonly Method<ListAvatarsRequest, ListAvatarsResponse> ListAvatars =
            new Method<ListAvatarsRequest, ListAvatarsResponse>("/taoxr.v1.AvatarService/ListAvatars", false, false, () => new ListAvatarsResponse());

        /// <summary>What drives an avatar, without downloading it. NOT_FOUND for an unknown id.</summary>
        public static readonly Method<GetRigRequest, GetRigResponse> GetRig =
            new Method<GetRigRequest, GetRigResponse>("/taoxr.v1.AvatarService/GetRig", false, false, () => new GetRigResponse());

        /// <summary>
        /// The file, from `offset` on, so that a broken download can go on. `avatar` comes first. NOT_FOUND for
        /// an unknown id; FAILED_PRECONDITION when the file is no longer the one that was begun.
        /// </summary>
        public static readonly Method<DownloadAvatarRequest, DownloadAvatarResponse> DownloadAvatar =
            new Method<DownloadAvatarRequest, DownloadAvatarResponse>("/taoxr.v1.AvatarService/DownloadAvatar", false, true, () => new DownloadAvatarResponse());
    }
}
