#if GTK
    import AlcedoCore
    import AlcedoGTK
    import AlcedoViewBinding
    import CGTK
    import Testing

    /// GTK creates widgets only with a display.
    @Suite(.enabled("needs a display") { @MainActor in TestWindow.isPossible }, .timeLimit(.minutes(3)))
    @MainActor struct ImageViewTests {
        private func image(
            width: Int, height: Int = 1, orientation: ImageOrientation = .up, red: UInt8 = 0
        ) throws -> DecodedImage {
            let size = PixelSize(width: width, height: height)
            let pixels = try #require(
                PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) { memory, bytesPerRow in
                    for y in 0..<height {
                        for x in 0..<width {
                            memory.storeBytes(
                                of: SIMD4(red, 0, 0, 255), toByteOffset: y * bytesPerRow + x * 4,
                                as: SIMD4<UInt8>.self)
                        }
                    }
                })
            return DecodedImage(pixels: pixels, orientation: orientation)
        }

        private func has(_ styleClass: String, _ view: ImageView) -> Bool {
            gtk_widget_has_css_class(UnsafeMutablePointer(view.widget), styleClass) != 0
        }

        @Test func `the view displays the image upright until it is cleared`() throws {
            let view = ImageView()
            #expect(view.texture == nil)

            view.display(.image(try image(width: 3, orientation: .right), from: .memory))
            let shown = try #require(view.texture)
            #expect(gdk_texture_get_width(shown) == 1)
            #expect(gdk_texture_get_height(shown) == 3)

            view.display(.nothing)
            #expect(view.texture == nil)
        }

        @Test func `style sheets can match the displayed state`() throws {
            let view = ImageView()
            #expect(has("empty", view))

            view.display(.placeholder(try image(width: 2)))
            #expect(has("placeholder", view))
            #expect(!has("empty", view))
            view.display(.failure(try image(width: 2)))
            #expect(has("failure", view))
            #expect(!has("placeholder", view))
            view.transition(to: .image(try image(width: 2), from: .network))
            #expect(has("image", view))
            #expect(!has("failure", view))
            view.showActivity(true)
            #expect(has("loading", view))
            view.showActivity(false)
            #expect(!has("loading", view))
        }

        @Test func `the progress line is removed with unknown progress and at the end of the load`() {
            let view = ImageView()
            view.showActivity(true)
            view.showProgress(DownloadProgress(received: 5, expected: 10))
            #expect(view.progress == 0.5)

            view.showProgress(DownloadProgress(received: 0, expected: nil))
            #expect(view.progress == nil)

            view.showProgress(DownloadProgress(received: 12, expected: 10))
            #expect(view.progress == 1)
            view.showActivity(false)
            #expect(view.progress == nil)
        }

        @Test func `pixels are released when they are no longer displayed`() throws {
            let view = ImageView()
            let window = TestWindow(view.widget)
            window.run { view.displaySize != .pending }
            var image: DecodedImage? = try image(width: 4)
            let weakImage = try #require(image?.weakReference)

            view.display(.image(try #require(image), from: .memory))
            image = nil
            window.drawFrame()
            #expect(weakImage() != nil)

            view.display(.nothing)
            window.drawFrame()
            #expect(weakImage() == nil)
        }

        @Test func `a view in a window reports its size in device pixels`() throws {
            let view = ImageView(contentMode: .fill)
            #expect(view.displaySize == .pending)

            var isSized = false
            view.observeDisplaySize { isSized = true }
            let window = TestWindow(view.widget, width: 120, height: 80)
            window.run { isSized }

            guard case .target(let target) = view.displaySize else {
                Issue.record("there is no size")
                return
            }
            let scale = Int(gtk_widget_get_scale_factor(UnsafeMutablePointer(view.widget)))
            #expect(target.mode == .fill)
            #expect(target.size.width == Int(gtk_widget_get_width(UnsafeMutablePointer(view.widget))) * scale)
        }

        @Test func `an empty view draws nothing`() throws {
            let view = ImageView()
            let widget = UnsafeMutablePointer<GtkWidget>(view.widget)
            gtk_widget_set_halign(widget, GTK_ALIGN_CENTER)
            gtk_widget_set_valign(widget, GTK_ALIGN_CENTER)
            let window = TestWindow(view.widget)
            window.run { gtk_widget_get_mapped(widget) != 0 }

            view.transition(to: .image(try image(width: 3, height: 3), from: .network))
            window.drawFrame()

            #expect(gtk_widget_get_width(widget) == 0)
            #expect(view.displaySize == .pending)
        }

        @Test func `a widget keeps its image after its view is released`() throws {
            var view: ImageView? = ImageView()
            view?.observeDisplaySize { Issue.record("the size was reported after the release") }
            let widget = try #require(view?.widget)
            g_object_ref(UnsafeMutableRawPointer(widget))
            let weakImage = try {
                let image = try image(width: 5)
                view?.transition(to: .image(image, from: .network))
                return try #require(image.weakReference)
            }()
            view = nil
            #expect(weakImage() != nil)

            var window: TestWindow? = TestWindow(widget)
            window?.run { gtk_widget_get_width(UnsafeMutablePointer(widget)) > 0 }
            window?.drawFrame()
            window = nil
            g_object_unref(UnsafeMutableRawPointer(widget))

            #expect(weakImage() == nil)
        }

        @Test func `a loaded image fades in, and one from memory does not`() throws {
            let view = ImageView(fadeDuration: .milliseconds(1))
            let window = TestWindow(view.widget)
            window.run { gtk_widget_get_mapped(UnsafeMutablePointer(view.widget)) != 0 }
            var old: DecodedImage? = try image(width: 4)
            let weakOld = try #require(old?.weakReference)
            view.display(.image(try #require(old), from: .memory))
            old = nil

            view.transition(to: .image(try image(width: 2), from: .network))
            #expect(weakOld() != nil)
            window.run { weakOld() == nil }

            var next: DecodedImage? = try image(width: 4)
            let weakNext = try #require(next?.weakReference)
            view.display(.image(try #require(next), from: .memory))
            next = nil
            view.display(.image(try image(width: 2), from: .memory))
            window.drawFrame()
            #expect(weakNext() == nil)
        }
    }
#endif
