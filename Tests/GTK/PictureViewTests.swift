#if GTK
    import AlcedoCore
    import AlcedoGTK
    import AlcedoViewBinding
    import CGTK
    import Testing

    /// GTK makes widgets only where there is a display.
    @Suite(.enabled("needs a display") { @MainActor in gtk_init_check() != 0 })
    @MainActor struct PictureViewTests {
        private func image(width: Int, orientation: ImageOrientation = .up) throws -> DecodedImage {
            let size = PixelSize(width: width, height: 1)
            let pixels = try #require(PixelBuffer(size: size, format: .rgba8, alphaMode: .straight))
            return DecodedImage(pixels: pixels, orientation: orientation)
        }

        @Test func `the widget has the picture, upright, until it is cleared`() throws {
            let view = PictureView()
            #expect(gtk_picture_get_paintable(view.widget) == nil)

            view.display(.image(try image(width: 3, orientation: .right), from: .memory))
            let shown = try #require(gtk_picture_get_paintable(view.widget))
            #expect(gdk_paintable_get_intrinsic_width(shown) == 1)
            #expect(gdk_paintable_get_intrinsic_height(shown) == 3)

            view.display(.nothing)
            #expect(gtk_picture_get_paintable(view.widget) == nil)
        }

        @Test func `a view keeps a widget that it wraps, and lets it go`() throws {
            let picture = try #require(OpaquePointer(gtk_picture_new()))
            let object = UnsafeMutableRawPointer(picture)
            g_object_ref_sink(object)
            let references = { object.assumingMemoryBound(to: GObject.self).pointee.ref_count }

            var view: PictureView? = PictureView(wrapping: picture)
            view?.display(.placeholder(try image(width: 2)))
            #expect(references() == 2)
            view = nil

            #expect(references() == 1)
            g_object_unref(object)
        }
    }
#endif
