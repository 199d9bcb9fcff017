#if GTK
    import AlcedoCore
    import AlcedoGTK
    import AlcedoViewBinding
    import CGTK
    import Testing

    @Suite(.enabled("needs a display") { @MainActor in TestWindow.isPossible }, .timeLimit(.minutes(3)))
    @MainActor struct PlaybackTests {
        /// Frame *n* is *n* + 1 pixels high, so that a texture identifies its frame.
        private final class Frames: ImageFrameSource {
            let playCount: Int?
            let frameCount = 5
            let cost = 0
            let canvasSize = PixelSize(width: 1, height: 1)

            private let delay: Duration

            /// - Parameter delay: The delay of each frame.
            init(delay: Duration = .milliseconds(20), playCount: Int? = nil) {
                self.delay = delay
                self.playCount = playCount
            }

            func delay(at index: Int) -> Duration { delay }
            func rawDelay(at index: Int) -> Duration { delay }

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

        private func shown(_ view: ImageView) -> Int? { view.texture.map { Int(gdk_texture_get_height($0)) - 1 } }

        @Test func `an animation plays by the frame clock, to its end`() async throws {
            let view = ImageView(frames: FramePool())
            let window = TestWindow(view.widget)
            window.run { gtk_widget_get_mapped(UnsafeMutablePointer(view.widget)) != 0 }

            view.display(try animation(Frames(playCount: 1)))
            #expect(shown(view) == 0)

            window.run { shown(view) == 4 }
        }

        @Test func `an animation pauses while its view is hidden or while it is paused`() throws {
            let view = ImageView(frames: FramePool())
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

        @Test func `an animation plays in reverse, stops at the rate zero, and jumps to a frame`() throws {
            let view = ImageView(frames: FramePool())
            let window = TestWindow(view.widget)
            window.run { gtk_widget_get_mapped(UnsafeMutablePointer(view.widget)) != 0 }
            view.playbackMode = .reverse
            view.rate = 0
            view.display(try animation(Frames(playCount: 1)))
            #expect(view.frameIndex == 4)
            window.run { shown(view) == 4 }
            view.rate = 1
            window.run { shown(view) == 0 }

            view.rate = 0
            view.frameIndex = 3
            window.run { shown(view) == 3 }
            for _ in 0..<20 { window.drawFrame() }
            #expect(shown(view) == 3)

            view.isPlaying = false
            view.frameIndex = 1
            window.run { shown(view) == 1 }
            view.display(.nothing)
            #expect(view.frameIndex == nil)
        }

        @Test func `the frame clock is idle between the frames of an animation`() throws {
            let view = ImageView(frames: FramePool())
            let window = TestWindow(view.widget)
            window.run { gtk_widget_get_mapped(UnsafeMutablePointer(view.widget)) != 0 }
            view.display(try animation(Frames(delay: .milliseconds(200))))
            window.run { shown(view) == 1 }

            let before = window.frameCount
            window.run { shown(view) == 0 }

            // Four frames, each of which may request a tick once too early and once for a late image. A clock that is
            // not idle would have run some fifty times.
            #expect(window.frameCount - before <= 12)
        }

        @Test func `a hidden animation requests no frames`() throws {
            let view = ImageView(frames: FramePool())
            let window = TestWindow(view.widget)
            window.run { gtk_widget_get_mapped(UnsafeMutablePointer(view.widget)) != 0 }
            view.display(try animation(Frames()))
            window.run { shown(view) != 0 }

            view.isPlaying = false
            for _ in 0..<3 { window.drawFrame() }
            let paused = window.frameCount
            window.run(for: .milliseconds(300))
            #expect(window.frameCount == paused)

            view.isPlaying = true
            let still = shown(view)
            window.run { shown(view) != still }
            gtk_widget_set_visible(UnsafeMutablePointer(view.widget), 0)
            for _ in 0..<3 { window.drawFrame() }
            let hidden = window.frameCount
            window.run(for: .milliseconds(300))
            #expect(window.frameCount == hidden)
        }

        @Test func `an animation that is scrolled out of view pauses and resumes when it is scrolled back`() throws {
            let pool = FramePool()
            let view = ImageView(frames: pool)
            let (above, below) = (gtk_label_new("above"), gtk_label_new("below"))
            let box = UnsafeMutablePointer<GtkWidget>(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0))
            gtk_widget_set_size_request(above, 100, 1_000)
            gtk_widget_set_size_request(UnsafeMutablePointer(view.widget), 100, 100)
            gtk_widget_set_size_request(below, 100, 1_000)
            for child in [above, UnsafeMutablePointer(view.widget), below] {
                gtk_box_append(UnsafeMutableRawPointer(box)?.assumingMemoryBound(to: GtkBox.self), child)
            }
            let scroller = OpaquePointer(gtk_scrolled_window_new())
            gtk_scrolled_window_set_child(scroller, box)
            // Scroll bars have their own animations.
            gtk_scrolled_window_set_policy(scroller, GTK_POLICY_NEVER, GTK_POLICY_EXTERNAL)
            let window = TestWindow(try #require(scroller))
            window.run { gtk_widget_get_width(UnsafeMutablePointer(view.widget)) > 0 }
            window.drawFrame()
            let adjustment = gtk_scrolled_window_get_vadjustment(scroller)

            view.display(try animation(Frames()))
            for _ in 0..<3 { window.drawFrame() }
            var before = window.frameCount
            window.run(for: .milliseconds(300))
            #expect(shown(view) == 0)
            #expect(window.frameCount == before)

            gtk_adjustment_set_value(adjustment, 950)
            window.run { shown(view) == 3 }
            #expect(pool.frameCount > 0)

            gtk_adjustment_set_value(adjustment, 1_900)
            window.run { pool.frameCount == 0 }
            for _ in 0..<3 { window.drawFrame() }
            before = window.frameCount
            let hidden = shown(view)
            window.run(for: .milliseconds(300))
            #expect(shown(view) == hidden)
            #expect(window.frameCount == before)
        }

        @Test func `without a frame pool the first frame stays`() throws {
            let view = ImageView()
            let window = TestWindow(view.widget)
            window.run { gtk_widget_get_mapped(UnsafeMutablePointer(view.widget)) != 0 }

            view.display(try animation(Frames()))
            for _ in 0..<10 { window.drawFrame() }

            #expect(shown(view) == 0)
        }
    }
#endif
