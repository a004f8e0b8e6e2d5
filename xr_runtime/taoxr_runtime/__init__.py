"""The render process: NNR, the splat renderer, the avatar and the demo."""
