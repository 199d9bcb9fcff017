#if GTK
    public import AlcedoCore
    public import AlcedoViewBinding
    import CGTK

    /// Shows pictures in a widget of its own.
    ///
    /// The pixels go to GTK without being copied; samples are taken as sRGB. A picture that a view had to wait for fades
    /// in. The widget has no size of its own: give it one, or let it expand; loads without a target size wait until it
    /// has one, if ``onSizeChange`` calls `viewSizeChanged()` of the binder. GTK must be initialised, and
    /// ``MainActorBridge`` installed for images that arrive later.
    ///
    /// For style sheets the widget is an `alcedo-image` of the class `empty`, `placeholder`, `failure` or `image`,
    /// and of the class `loading` while an image is on its way; the progress of that is a line of its `color`. It clips to
    /// its `border-radius`.
    @MainActor public final class ImageView: ImageDisplaying {
        /// The `GtkWidget`, to put in a window or a cell. Valid for as long as the view; as long as it is in a window it
        /// goes on to show what it shows.
        public let widget: OpaquePointer
        private let canvas: ImageCanvas
        private let frames: FramePool?
        private var animator: ImageAnimator?
        private var styleClass = "empty"

        private let fadeDuration: Duration

        /// - Parameters:
        ///   - contentMode: How a picture of other proportions than the view is shown. Default: `fit`.
        ///   - frames: Has the frames of animations, best one for all views. nil: the first frame is shown. Default: nil.
        ///   - fadeDuration: How long an image fades in that the view waited for. Zero: it does not fade. Default: 150 ms.
        public init(
            contentMode: TargetSize.ContentMode = .fit, frames: FramePool? = nil,
            fadeDuration: Duration = .milliseconds(150)
        ) {
            self.frames = frames
            self.fadeDuration = fadeDuration
            (widget, canvas) = ImageWidget.make()
            canvas.mode = contentMode
            canvas.onTick = { [weak self] in self?.play(to: $0) }
            canvas.onMap = { [weak self] in self?.visibilityDidChange() }
            g_object_ref_sink(UnsafeMutableRawPointer(widget))
            gtk_widget_add_css_class(UnsafeMutablePointer(widget), styleClass)
        }

        isolated deinit {
            canvas.end()
            g_object_unref(UnsafeMutableRawPointer(widget))
        }

        /// Whether animations play. They rest while the widget is not in sight: unmapped, or scrolled out of a
        /// `GtkScrolledWindow`. Default: true.
        public var isPlaying = true {
            didSet {
                animator?.isPlaying = isPlaying
                updateTicking()
            }
        }

        /// Called when the view has another size, from within GTK's layout.
        public var onSizeChange: (@MainActor () -> Void)? {
            get { canvas.onResize }
            set { canvas.onResize = newValue }
        }

        /// The `GdkTexture` that is shown, borrowed; nil for nothing.
        public var texture: OpaquePointer? { canvas.texture }

        /// Shows `content`, upright; nothing when it is too large for GTK.
        public func display(_ content: DisplayContent) { show(content, fading: .zero) }

        public func transition(to content: DisplayContent) { show(content, fading: fadeDuration) }

        /// The view's size in device pixels, which a window on a dense screen has more of.
        public var displaySize: DisplaySize {
            canvas.size.map { .target(TargetSize($0, mode: canvas.mode)) } ?? .pending
        }

        public func showActivity(_ isActive: Bool) {
            canvas.progress = nil
            setClass("loading", isActive)
        }

        public func showProgress(_ progress: DownloadProgress) {
            guard let expected = progress.expected, expected > 0 else { return }
            canvas.progress = min(1, Double(progress.received) / Double(expected))
        }

        private func show(_ content: DisplayContent, fading: Duration) {
            let texture = content.image.flatMap { try? $0.pixels.upright(from: $0.orientation).makeTexture() }
            canvas.show(texture, fading: fading)
            animate(texture == nil ? nil : content)
            let name = texture == nil ? "empty" : content.styleClass
            guard name != styleClass else { return }
            setClass(styleClass, false)
            setClass(name, true)
            styleClass = name
        }

        private func animate(_ content: DisplayContent?) {
            animator = nil
            canvas.visibility.stopWaiting()
            guard let frames, case .image(let image, from: _)? = content else { return }
            animator = ImageAnimator(image, pool: frames) { [weak self] in self?.updateTicking() }
            animator?.isPlaying = isPlaying
            visibilityDidChange()
        }

        private func visibilityDidChange() {
            updateVisibility()
            updateTicking()
        }

        private func updateVisibility() {
            guard let animator else { return }
            animator.isHidden = !canvas.visibility.isVisible
            if animator.isHidden {
                canvas.visibility.awaitVisible { [weak self] in self?.visibilityDidChange() }
            } else {
                canvas.visibility.stopWaiting()
            }
        }

        private var plays: Bool { isPlaying && animator.map { !$0.isHidden } == true }

        private func updateTicking() {
            if plays { canvas.startTicking() } else { canvas.stopTicking() }
        }

        /// - Returns: When the next frame is due.
        private func play(to time: Duration) -> Duration? {
            guard let animator, plays else { return nil }
            guard canvas.visibility.isVisible else {
                updateVisibility()
                return nil
            }
            if let image = animator.advance(to: time),
                let texture = try? image.pixels.upright(from: image.orientation).makeTexture()
            {
                canvas.showNext(texture)
            }
            return animator.nextDeadline
        }

        private func setClass(_ name: String, _ isSet: Bool) {
            let widget = UnsafeMutablePointer<GtkWidget>(widget)
            if isSet { gtk_widget_add_css_class(widget, name) } else { gtk_widget_remove_css_class(widget, name) }
        }
    }

    extension DisplayContent {
        fileprivate var styleClass: String {
            switch self {
            case .nothing: "empty"
            case .placeholder: "placeholder"
            case .failure: "failure"
            case .preview, .image: "image"
            }
        }
    }

    /// The widget under a ``ImageView``: draws what its ``ImageCanvas`` says.
    ///
    /// Not a `GtkPicture`, because that one asks for a new layout of the whole window with every picture, and tells
    /// nobody its size. This one wants no size of its own: whoever puts it somewhere gives it one.
    @MainActor private enum ImageWidget {
        private static let canvasKey = "alcedo-canvas"

        private static let type: GType = {
            g_type_register_static_simple(
                gtk_widget_get_type(), "AlcedoImage", guint(MemoryLayout<GtkWidgetClass>.size),
                { type, _ in
                    guard let type else { return }
                    let widgetClass = type.assumingMemoryBound(to: GtkWidgetClass.self)
                    widgetClass.pointee.snapshot = { widget, snapshot in
                        guard let widget, let snapshot else { return }
                        // GTK calls on the main thread alone, and has no way to say so.
                        nonisolated(unsafe) let (drawn, target) = (widget, snapshot)
                        MainActor.assumeIsolated { ImageWidget.canvas(of: drawn)?.draw(into: target) }
                    }
                    widgetClass.pointee.size_allocate = { widget, _, _, _ in
                        guard let widget else { return }
                        // As above.
                        nonisolated(unsafe) let resized = widget
                        MainActor.assumeIsolated { ImageWidget.canvas(of: resized)?.sizeHasChanged() }
                    }
                    gtk_widget_class_set_css_name(widgetClass, "alcedo-image")
                    gtk_widget_class_set_accessible_role(widgetClass, GTK_ACCESSIBLE_ROLE_IMG)
                },
                guint(MemoryLayout<GtkWidget>.size), nil, GTypeFlags(0))
        }()

        /// A new widget with its canvas, which the widget keeps. Floating, as GTK's own are.
        static func make() -> (widget: OpaquePointer, canvas: ImageCanvas) {
            let object = g_object_new_with_properties(type, 0, nil, nil)
            // GTK ends the process where there is no memory for an object.
            let widget = UnsafeMutableRawPointer(object).unsafelyUnwrapped.assumingMemoryBound(to: GtkWidget.self)
            let canvas = ImageCanvas(widget: widget)
            g_object_set_data_full(
                object, canvasKey, Unmanaged.passRetained(canvas).toOpaque(),
                { canvas in canvas.map { Unmanaged<ImageCanvas>.fromOpaque($0).release() } })
            Signal(UnsafeMutableRawPointer(widget), "map") { [weak canvas] in canvas?.onMap?() }
            Signal(UnsafeMutableRawPointer(widget), "unmap") { [weak canvas] in canvas?.onMap?() }
            gtk_widget_set_overflow(widget, GTK_OVERFLOW_HIDDEN)
            return (OpaquePointer(widget), canvas)
        }

        private static func canvas(of widget: UnsafeMutablePointer<GtkWidget>) -> ImageCanvas? {
            let object = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GObject.self)
            return g_object_get_data(object, canvasKey).map {
                Unmanaged<ImageCanvas>.fromOpaque($0).takeUnretainedValue()
            }
        }
    }
#endif
