#if GTK
    import CGTK

    /// The widget under a ``PictureView``: draws what its ``PictureCanvas`` says.
    ///
    /// Not a `GtkPicture`, because that one asks for a new layout of the whole window with every picture, and tells
    /// nobody its size. This one wants no size of its own: whoever puts it somewhere gives it one.
    @MainActor enum PictureWidget {
        private static let canvasKey = "alcedo-canvas"

        private static let type: GType = {
            g_type_register_static_simple(
                gtk_widget_get_type(), "AlcedoPicture", guint(MemoryLayout<GtkWidgetClass>.size),
                { type, _ in
                    guard let type else { return }
                    let widgetClass = type.assumingMemoryBound(to: GtkWidgetClass.self)
                    widgetClass.pointee.snapshot = { widget, snapshot in
                        guard let widget, let snapshot else { return }
                        // GTK calls on the main thread alone, and has no way to say so.
                        nonisolated(unsafe) let (drawn, target) = (widget, snapshot)
                        MainActor.assumeIsolated { PictureWidget.canvas(of: drawn)?.draw(into: target) }
                    }
                    widgetClass.pointee.size_allocate = { widget, _, _, _ in
                        guard let widget else { return }
                        // As above.
                        nonisolated(unsafe) let resized = widget
                        MainActor.assumeIsolated { PictureWidget.canvas(of: resized)?.sizeHasChanged() }
                    }
                    gtk_widget_class_set_css_name(widgetClass, "alcedo-picture")
                    gtk_widget_class_set_accessible_role(widgetClass, GTK_ACCESSIBLE_ROLE_IMG)
                },
                guint(MemoryLayout<GtkWidget>.size), nil, GTypeFlags(0))
        }()

        /// A new widget with its canvas, which the widget keeps. Floating, as GTK's own are.
        static func make() -> (widget: OpaquePointer, canvas: PictureCanvas) {
            let object = g_object_new_with_properties(type, 0, nil, nil)
            // GTK ends the process where there is no memory for an object.
            let widget = UnsafeMutableRawPointer(object).unsafelyUnwrapped.assumingMemoryBound(to: GtkWidget.self)
            let canvas = PictureCanvas(widget: widget)
            g_object_set_data_full(
                object, canvasKey, Unmanaged.passRetained(canvas).toOpaque(),
                { canvas in canvas.map { Unmanaged<PictureCanvas>.fromOpaque($0).release() } })
            Signal(UnsafeMutableRawPointer(widget), "map") { [weak canvas] in canvas?.onMap?() }
            Signal(UnsafeMutableRawPointer(widget), "unmap") { [weak canvas] in canvas?.onMap?() }
            gtk_widget_set_overflow(widget, GTK_OVERFLOW_HIDDEN)
            return (OpaquePointer(widget), canvas)
        }

        private static func canvas(of widget: UnsafeMutablePointer<GtkWidget>) -> PictureCanvas? {
            let object = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GObject.self)
            return g_object_get_data(object, canvasKey).map {
                Unmanaged<PictureCanvas>.fromOpaque($0).takeUnretainedValue()
            }
        }
    }
#endif
