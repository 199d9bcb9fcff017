#if GTK
    import AlcedoGTK
    import CGTK
    import Testing

    @Suite(.enabled("needs a display") { @MainActor in TestWindow.isPossible }, .timeLimit(.minutes(3)))
    @MainActor struct FrameTickerTests {
        private func makeLabel() throws -> OpaquePointer {
            let label = try #require(gtk_label_new(nil))
            g_object_ref_sink(UnsafeMutableRawPointer(label))
            return OpaquePointer(label)
        }

        @Test func `a running ticker calls its closure for each frame until it is stopped`() throws {
            let label = try makeLabel()
            defer { g_object_unref(UnsafeMutableRawPointer(label)) }
            let window = TestWindow(label)
            var count = 0
            let ticker = FrameTicker(widget: label) { _ in
                count += 1
                return true
            }

            ticker.start()
            window.run { count >= 3 }
            ticker.stop()

            let before = count
            window.drawFrame()
            #expect(count == before)
        }

        @Test func `a ticker whose widget is destroyed can be stopped and started`() throws {
            let label = try makeLabel()
            var window: TestWindow? = TestWindow(label)
            var count = 0
            let ticker = FrameTicker(widget: label) { _ in
                count += 1
                return true
            }
            ticker.start()
            window?.run { count >= 1 }

            window = nil
            g_object_unref(UnsafeMutableRawPointer(label))
            let before = count
            ticker.stop()
            ticker.start()
            ticker.stop()

            #expect(count == before)
        }

        @Test func `a ticker that was never started can outlive its widget`() throws {
            let label = try makeLabel()
            let ticker = FrameTicker(widget: label) { _ in false }

            g_object_unref(UnsafeMutableRawPointer(label))

            ticker.start()
            ticker.stop()
        }
    }
#endif
