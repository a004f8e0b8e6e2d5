using System;
using System.Globalization;
using Taoxr.Avatar;
using UnityEngine;

namespace Taoxr.Samples
{
    /// <summary>
    /// Functions that the avatar may call: "What time is it?", "Make the light red." Put this beside a TaoxrAvatar and give it a light.
    /// Small language models call tools rarely and not always well; choose a larger one on the server for more.
    /// </summary>
    [AddComponentMenu("taoxr/Samples/Lamp Tools")]
    [RequireComponent(typeof(TaoxrAvatar))]
    public sealed class LampTools : MonoBehaviour
    {
        public Light lamp;

        [Serializable]
        private sealed class LampArguments
        {
            public string color = "white";
        }

        // Tools are told when a conversation begins, so they must be there before the avatar is enabled, or it must begin anew.
        private void Start()
        {
            var avatar = GetComponent<TaoxrAvatar>();
            avatar.AddTool(new AvatarTool("get_time", "Tells the time of day.", "", TellTime));
            avatar.AddTool(new AvatarTool(
                "set_lamp",
                "Sets the colour of the lamp in the room.",
                "{\"type\":\"object\",\"properties\":{\"color\":{\"type\":\"string\",\"enum\":[\"red\",\"green\",\"white\"]}},\"required\":[\"color\"]}",
                SetLamp));
            avatar.Restart();
        }

        private static void TellTime(AvatarToolCall call) => call.Answer(DateTime.Now.ToString("HH:mm", CultureInfo.InvariantCulture));

        private void SetLamp(AvatarToolCall call)
        {
            var wanted = JsonUtility.FromJson<LampArguments>(call.Arguments).color;
            switch (wanted)
            {
                case "red": lamp.color = Color.red; break;
                case "green": lamp.color = Color.green; break;
                case "white": lamp.color = Color.white; break;
                default:
                    call.Fail("the lamp cannot be " + wanted);
                    return;
            }
            call.Answer("the lamp is " + wanted);
        }
    }
}
