#if GTK
    import AlcedoCore
    import AlcedoGTK
    import AlcedoViewBinding
    import CGTK
    import Testing

    @Suite(.enabled("needs a display") { @MainActor in TestWindow.isPossible }, .timeLimit(.minutes(3)))
    @MainActor struct PlaybackTests {
        /// Frame *n* is *n* + 1 pixels high, so that a texture tells which it is. Each lasts 20 ms.
        private final class Frames: ImageFrameSource {
            let playCount: Int?
            let frameCount = 5
            let cost = 0
            let canvasSize = PixelSize(width: 1, height: 1)

            init(playCount: Int? = nil) { self.playCount = playCount }

            func delay(at index: Int) -> Duration { .milliseconds(20) }
            func rawDelay(at index: Int) -> Duration { .milliseconds(20) }

            func frame(at index: Int) throws -> PixelBuffer {
                let size = PixelSize(width: 1, height: index + 1)
                guard let pixels = PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) else {
                    throw CancellationError()
                }
                return pixels
            }
        }

        private func animation(_ frames: Frames) throws -> DisplayContent {
            .image(DecodedImage(pixels: try frames.frame(at: 0), frames: frames), from: .memory)
        }

        private func shown(_ view: PictureView) -> Int? { view.texture.map { Int(gdk_texture_get_height($0)) - 1 } }

        @Test func `an animation plays by the frame clock, to its end`() async throws {
            let view = PictureView(frames: FramePool())
            let window = TestWindow(view.widget)
            window.run { gtk_widget_get_mapped(UnsafeMutablePointer(view.widget)) != 0 }

            view.display(try animation(Frames(playCount: 1)))
            #expect(shown(view) == 0)

            window.run { shown(view) == 4 }
        }

        @Test func `an animation rests while its view is not in sight, and while it is told to`() throws {
            let view = PictureView(frames: FramePool())
            let window = TestWindow(view.widget)
            let widget = UnsafeMutablePointer<GtkWidget>(view.widget)
            window.run { gtk_widget_get_mapped(widget) != 0 }
            view.display(try animation(Frames()))
            window.run { shown(view) != 0 }

            gtk_widget_set_visible(widget, 0)
            let hidden = shown(view)
            for _ in 0..<20 { window.drawFrame() }
            #expect(shown(view) == hidden)
            gtk_widget_set_visible(widget, 1)
            window.run { shown(view) != hidden }

            view.isPlaying = false
            let paused = shown(view)
            for _ in 0..<20 { window.drawFrame() }
            #expect(shown(view) == paused)
            view.isPlaying = true
            window.run { shown(view) != paused }
        }

        @Test func `without a pool the first frame stays`() throws {
            let view = PictureView()
            let window = TestWindow(view.widget)
            window.run { gtk_widget_get_mapped(UnsafeMutablePointer(view.widget)) != 0 }

            view.display(try animation(Frames()))
            for _ in 0..<10 { window.drawFrame() }

            #expect(shown(view) == 0)
        }
    }
#endif
