#if GTK
    import AlcedoCore
    public import AlcedoViewBinding
    import CGTK

    /// Shows pictures in a `GtkPicture`.
    ///
    /// The pixels go to GTK without being copied. Of an animation the first frame is shown; samples are taken as sRGB.
    /// GTK must be initialised, and ``MainActorBridge`` installed for images that arrive later.
    @MainActor public final class PictureView: ImageDisplaying {
        /// The `GtkPicture`, to put in a window or a cell. Valid for as long as the view.
        public let widget: OpaquePointer

        /// Makes a new widget.
        public convenience init() { self.init(wrapping: OpaquePointer(gtk_picture_new())) }

        /// Shows pictures in a widget that exists.
        ///
        /// - Parameter picture: A `GtkPicture`. The view keeps it alive.
        public init(wrapping picture: OpaquePointer) {
            widget = picture
            g_object_ref_sink(UnsafeMutableRawPointer(picture))
        }

        isolated deinit { g_object_unref(UnsafeMutableRawPointer(widget)) }

        /// Shows `content`, upright; nothing when it is too large for GTK.
        public func display(_ content: DisplayContent) {
            let texture = content.picture.flatMap { $0.pixels.upright(from: $0.orientation).makeTexture() }
            // Null clears the widget.
            gtk_picture_set_paintable(widget, texture)
            if let texture { g_object_unref(UnsafeMutableRawPointer(texture)) }
        }
    }
#endif
