#nullable enable
using System;
using System.Collections.Generic;
using Taoxr.Protocol.V1;

namespace Taoxr.Avatar
{
    /// <summary>
    /// The body of a conversation: that of the media while something is heard, that of Motion between the turns. Where one takes
    /// over from the other they are blended, for about 0.25 s.
    /// </summary>
    public sealed class BodyTrack
    {
        private const long JoinUs = 250_000;

        private readonly Poses _media;
        private readonly Poses _motion;
        private readonly float[] _from;
        private readonly float[] _shown;
        private Source _source;
        private bool _shows;
        private bool _blends;
        private bool _pinned;
        private long _behindUs;
        private long _changeUs;

        private enum Source
        {
            None,
            Media,
            Motion,
        }

        /// <param name="bones">Names of the bones, as SessionStarted.Body says them.</param>
        public BodyTrack(IReadOnlyList<string> bones)
        {
            Bones = new List<string>(bones);
            _media = new Poses(bones.Count);
            _motion = new Poses(bones.Count);
            _from = new float[_media.Size];
            _shown = new float[_media.Size];
        }

        /// <summary>Names of the bones.</summary>
        public IReadOnlyList<string> Bones { get; }

        /// <summary>Whether there is a pose to show.</summary>
        public bool Shows => _shows;

        /// <summary>The pose: a rotation from the T-pose per bone, x, y, z, w, right-handed, +X to the avatar's left, +Z to its front.</summary>
        public Span<float> Rotations => new Span<float>(_shown, 0, 4 * Bones.Count);

        /// <summary>Where the hips are, from their place in the T-pose, in metres for hips that are 0.95 m above the floor.</summary>
        public Span<float> Hips => new Span<float>(_shown, 4 * Bones.Count, 3);

        /// <summary>A pose that belongs to sound.</summary>
        /// <param name="timeUs">When, in voice time.</param>
        /// <param name="frame">The pose.</param>
        /// <returns>Whether it has the right size.</returns>
        public bool AddMedia(long timeUs, BodyFrame frame)
        {
            if (!Fits(frame)) return false;
            _media.Add(timeUs, frame.Rotations.Span, frame.HipsTranslation.Span);
            return true;
        }

        /// <summary>Poses between the turns.</summary>
        /// <param name="nowUs">When they came, on any steady clock.</param>
        /// <param name="motion">The poses, on the clock of the session.</param>
        public void AddMotion(long nowUs, Motion motion)
        {
            if (motion.Body.Count == 0) return;
            // The first piece is due when it comes. Later ones come early; a late one delays what follows.
            var behind = nowUs - motion.Body[0].TimeUs;
            _behindUs = _pinned ? Math.Max(_behindUs, behind) : behind;
            _pinned = true;
            _motion.CutFrom(motion.Body[0].TimeUs);
            foreach (var frame in motion.Body)
                if (Fits(frame)) _motion.Add(frame.TimeUs, frame.Rotations.Span, frame.HipsTranslation.Span);
        }

        /// <summary>The sound was cut: its poses will not be shown.</summary>
        public void CutMedia() => _media.Clear();

        /// <summary>Works out the pose.</summary>
        /// <param name="nowUs">Now, on the clock of AddMotion.</param>
        /// <param name="heardUs">What is heard, in voice time; null when nothing is.</param>
        public void Update(long nowUs, long? heardUs)
        {
            var source = Choose(nowUs, heardUs, out var poses, out var timeUs);
            if (source == Source.None) return;
            if (source != _source)
            {
                _source = source;
                _changeUs = nowUs;
                _blends = _shows;
                _shown.CopyTo(_from, 0);
            }
            poses!.At(timeUs, _shown);
            var mix = FaceTrack.Smooth((double)(nowUs - _changeUs) / JoinUs);
            if (_blends && mix < 1) Poses.Blend(_from, _shown, mix, _shown);
            _shows = true;
        }

        private Source Choose(long nowUs, long? heardUs, out Poses? poses, out long timeUs)
        {
            if (heardUs is long heard && _media.Count > 0 && heard <= _media.LastUs + JoinUs)
            {
                poses = _media;
                timeUs = heard;
                return Source.Media;
            }
            poses = _motion;
            timeUs = nowUs - _behindUs;
            return _pinned && _motion.Count > 0 && timeUs <= _motion.LastUs + JoinUs ? Source.Motion : Source.None;
        }

        private bool Fits(BodyFrame frame) => frame.Rotations.Count == 4 * Bones.Count && frame.HipsTranslation.Count == 3;
    }
}
