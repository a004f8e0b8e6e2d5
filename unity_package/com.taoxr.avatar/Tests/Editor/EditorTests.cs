using NUnit.Framework;
using Taoxr.Avatar.Editor;
using Taoxr.Client;

namespace Taoxr.Avatar.Editor.Tests
{
    public sealed class EditorTests
    {
        [TestCase("127.0.0.1:50061", "taoxr serve")]
        [TestCase("localhost:50099", "taoxr serve --port 50099")]
        [TestCase("192.168.1.5", "taoxr serve --host 0.0.0.0 --insecure")]
        [TestCase("https://pc.local", "taoxr serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem")]
        public void TheServerCommandFitsTheSettings(string server, string command) =>
            Assert.AreEqual(command, Hints.ServerCommand(ClientOptions.For(server)));

        [Test]
        public void ATestOfNoServerSaysHowToStartOne()
        {
            var options = ClientOptions.For("127.0.0.1:9");
            using var test = new ConnectionTest(options);
            for (var i = 0; i < 3000 && !test.IsDone; i++) System.Threading.Thread.Sleep(10);
            Assert.IsFalse(test.Succeeded);
            Assert.IsTrue(test.Text.Contains("taoxr serve --port 9"), test.Text);
        }

        [Test]
        public void SettingsAreSavedOnlyWhenTheyChange()
        {
            var settings = TaoxrSettings.instance;
            var (server, insecure) = (settings.Server, settings.AllowInsecure);
            settings.Set("10.0.0.1", true);
            Assert.AreEqual("10.0.0.1", settings.Server);
            settings.Set(server, insecure);
            Assert.AreEqual(server, settings.Server);
        }
    }
}
