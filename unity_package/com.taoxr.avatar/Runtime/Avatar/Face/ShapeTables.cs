#nullable enable
using System.Collections.Generic;

namespace Taoxr.Avatar
{
    /// <summary>Whose names the shapes of a face have.</summary>
    public enum ShapeKind
    {
        /// <summary>The kind of which the mesh has most.</summary>
        Auto,

        /// <summary>The 52 of ARKit ("jawOpen", also "eyeBlink_L", "Face.jawOpen").</summary>
        Arkit,

        /// <summary>Expressions of VRM 1.0 ("aa", "blinkLeft") and 0.x ("A", "Blink_L"), and VRoid's shapes ("Fcl_MTH_A").</summary>
        Vrm,

        /// <summary>Ready Player Me: ARKit's names where the avatar has them, else "mouthOpen", "mouthSmile", "eyesClosed".</summary>
        ReadyPlayerMe,

        /// <summary>The 15 visemes of Oculus Lipsync ("viseme_PP"), and ARKit's names beside them.</summary>
        OculusVisemes,

        /// <summary>A table of your own (BlendshapeMap).</summary>
        Custom,
    }

    /// <summary>
    /// From ARKit's coefficients to the shapes of other kinds of faces. A face with fewer shapes shows fewer of the 52: mouths of
    /// vowels are mixed from how open, wide and round the lips are. Gains were set by hand, and are tested with the mouths that the
    /// server makes for each sound.
    /// </summary>
    public static class ShapeTables
    {
        private static readonly IReadOnlyList<ShapeRule> ArkitRules = Same();
        private static readonly IReadOnlyList<ShapeRule> VrmRules = Vrm();
        private static readonly IReadOnlyList<ShapeRule> ReadyPlayerMeRules = ReadyPlayerMe();
        private static readonly IReadOnlyList<ShapeRule> OculusRules = Oculus();

        /// <summary>The rules of a kind; none for Auto and Custom.</summary>
        public static IReadOnlyList<ShapeRule> Of(ShapeKind kind)
        {
            switch (kind)
            {
                case ShapeKind.Arkit: return ArkitRules;
                case ShapeKind.Vrm: return VrmRules;
                case ShapeKind.ReadyPlayerMe: return ReadyPlayerMeRules;
                case ShapeKind.OculusVisemes: return OculusRules;
                default: return System.Array.Empty<ShapeRule>();
            }
        }

        private static List<ShapeRule> Same()
        {
            var rules = new List<ShapeRule>();
            foreach (var name in Arkit.Names) rules.Add(new ShapeRule(name, new ShapeSource(name, 1)));
            return rules;
        }

        private static List<ShapeRule> ReadyPlayerMe()
        {
            var rules = Same();
            rules.Add(new ShapeRule("mouthOpen", From("jawOpen", 1.4f), From("mouthClose", -1.4f), Both("mouthLowerDown", 0.2f)));
            rules.Add(new ShapeRule("mouthSmile", Both("mouthSmile", 0.5f)));
            rules.Add(new ShapeRule("eyesClosed", Both("eyeBlink", 0.5f)));
            rules.Add(new ShapeRule("eyesLookUp", Both("eyeLookUp", 0.5f)));
            rules.Add(new ShapeRule("eyesLookDown", Both("eyeLookDown", 0.5f)));
            return rules;
        }

        private static List<ShapeRule> Vrm() => new List<ShapeRule>
        {
            new ShapeRule("aa|A|Fcl_MTH_A|vrc.v_aa|あ", From("jawOpen", 2), From("mouthClose", -2), From("mouthFunnel", -0.9f), From("mouthPucker", -0.8f), Both("mouthStretch", -0.7f), Both("mouthSmile", -0.3f)),
            new ShapeRule("ih|I|Fcl_MTH_I|vrc.v_ih|い", Both("mouthStretch", 0.9f), Both("mouthSmile", 0.7f), From("jawOpen", -0.7f), From("mouthPucker", -0.8f), From("mouthFunnel", -0.8f)),
            new ShapeRule("ou|U|Fcl_MTH_U|vrc.v_ou|う", From("mouthPucker", 1.2f), From("mouthFunnel", 0.3f), From("jawOpen", -0.8f)),
            new ShapeRule("ee|E|Fcl_MTH_E|vrc.v_e|え", Both("mouthStretch", 0.6f), Both("mouthSmile", 0.2f), From("jawOpen", 0.3f), From("mouthPucker", -0.6f), From("mouthFunnel", -0.6f)),
            new ShapeRule("oh|O|Fcl_MTH_O|vrc.v_oh|お", From("mouthFunnel", 1.3f), From("jawOpen", 0.6f), From("mouthPucker", -0.2f), Both("mouthStretch", -1), Both("mouthSmile", -1), Both("mouthLowerDown", -0.5f)),
            new ShapeRule("blinkLeft|Blink_L|Fcl_EYE_Close_L|ウィンク", From("eyeBlinkLeft", 1)),
            new ShapeRule("blinkRight|Blink_R|Fcl_EYE_Close_R|ウィンク右", From("eyeBlinkRight", 1)),
            new ShapeRule("lookUp|LookUp", Both("eyeLookUp", 0.5f)),
            new ShapeRule("lookDown|LookDown", Both("eyeLookDown", 0.5f)),
            new ShapeRule("lookLeft|LookLeft", From("eyeLookOutLeft", 0.5f), From("eyeLookInRight", 0.5f)),
            new ShapeRule("lookRight|LookRight", From("eyeLookOutRight", 0.5f), From("eyeLookInLeft", 0.5f)),
            new ShapeRule("happy|Joy|Fcl_ALL_Joy", Both("mouthSmile", 0.3f), Both("cheekSquint", 0.2f), Both("mouthStretch", -0.3f)),
            new ShapeRule("angry|Angry|Fcl_ALL_Angry", Both("browDown", 0.4f), Both("noseSneer", 0.2f)),
            new ShapeRule("sad|Sorrow|Fcl_ALL_Sorrow", Both("mouthFrown", 0.4f), From("browInnerUp", 0.3f), Both("browOuterUp", -0.2f)),
            new ShapeRule("surprised|Surprised|Fcl_ALL_Surprised", Both("eyeWide", 0.4f), Both("browOuterUp", 0.3f)),
            new ShapeRule("relaxed|Fun|Fcl_ALL_Fun", Both("eyeSquint", 0.2f)),
        };

        // What each mouth looks like, as Oculus Lipsync describes its visemes; tongue and teeth inside the mouth are not among ARKit's.
        private static List<ShapeRule> Oculus()
        {
            var rules = new List<ShapeRule>
            {
                new ShapeRule("viseme_PP|PP|vrc.v_pp", From("mouthClose", 6), Both("mouthPress", 1.5f), From("mouthRollLower", -2), From("mouthPucker", -0.5f)),
                new ShapeRule("viseme_FF|FF|vrc.v_ff", From("mouthRollLower", 1.6f), Both("mouthUpperUp", 0.3f), Both("mouthPress", -2)),
                new ShapeRule("viseme_TH|TH|vrc.v_th", From("tongueOut", 3)),
                new ShapeRule("viseme_DD|DD|vrc.v_dd", Both("mouthLowerDown", 0.8f), Both("mouthSmile", -0.8f), Both("mouthStretch", -1), From("jawOpen", -0.4f), From("tongueOut", -2)),
                new ShapeRule("viseme_kk|kk|vrc.v_kk", Both("mouthLowerDown", 0.4f), Both("mouthSmile", -0.8f), Both("mouthStretch", -1), From("tongueOut", -2)),
                new ShapeRule("viseme_CH|CH|vrc.v_ch", From("jawForward", 5), From("mouthFunnel", 0.8f), From("jawOpen", -1), From("mouthPucker", -0.6f)),
                new ShapeRule("viseme_SS|SS|vrc.v_ss", Both("mouthStretch", 1.6f), Both("mouthLowerDown", 0.8f), From("jawOpen", -2.4f), Both("mouthSmile", -0.8f)),
                new ShapeRule("viseme_nn|nn|vrc.v_nn", Both("mouthLowerDown", 0.4f), Both("mouthUpperUp", 0.2f), Both("mouthSmile", -0.8f), Both("mouthStretch", -1), From("jawOpen", -0.4f)),
                new ShapeRule("viseme_RR|RR|vrc.v_rr", From("mouthFunnel", 0.9f), From("mouthPucker", 0.4f), From("jawOpen", -1.6f), From("jawForward", -4), Both("mouthLowerDown", -2)),
                new ShapeRule("viseme_aa|aa|vrc.v_aa", From("jawOpen", 1.8f), From("mouthClose", -1.8f), From("mouthFunnel", -0.9f), From("mouthPucker", -0.8f), Both("mouthSmile", -0.5f)),
                new ShapeRule("viseme_E|E|vrc.v_e", Both("mouthSmile", 0.5f), Both("mouthStretch", 0.5f), From("jawOpen", 0.4f), From("mouthPucker", -0.8f), From("mouthFunnel", -0.8f)),
                new ShapeRule("viseme_I|I|vrc.v_ih", Both("mouthSmile", 1.0f), Both("mouthStretch", 0.5f), From("jawOpen", -0.8f), From("mouthPucker", -0.8f), From("mouthFunnel", -0.8f)),
                new ShapeRule("viseme_O|O|vrc.v_oh", From("mouthFunnel", 1.3f), From("jawOpen", 0.6f), From("mouthPucker", -0.2f), Both("mouthLowerDown", -0.7f)),
                new ShapeRule("viseme_U|U|vrc.v_ou", From("mouthPucker", 1.2f), From("mouthFunnel", 0.3f), From("jawOpen", -0.8f)),
            };
            foreach (var name in Arkit.Names)
                if (!IsMouth(name)) rules.Add(new ShapeRule(name, From(name, 1)));
            return rules;
        }

        private static bool IsMouth(string name) =>
            name.StartsWith("mouth", System.StringComparison.Ordinal) || name.StartsWith("jaw", System.StringComparison.Ordinal) || name == "tongueOut";

        private static ShapeSource From(string arkit, float gain) => new ShapeSource(arkit, gain);

        private static ShapeSource Both(string arkit, float gain) => new ShapeSource(arkit, gain);
    }
}
