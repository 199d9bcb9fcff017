#if GTK
    public import AlcedoCore
    public import AlcedoViewBinding
    import CGTK

    /// A view that shows images in a GTK widget.
    ///
    /// ```swift
    /// let view = ImageView(contentMode: .fill, frames: FramePool())
    /// let binder = ImageBinder(view: view, pipeline: pipeline)
    /// binder.load(url)
    /// ```
    ///
    /// GTK must be initialized. ``MainActorBridge`` must be installed; otherwise a binder shows only placeholders and
    /// images in memory.
    ///
    /// The widget has no natural size: set a size request, or let it expand. Loads without a target size wait until the
    /// widget has a size. Pixels are passed to GTK without a copy, except for gray images and images that are not
    /// stored upright. Samples are interpreted as sRGB. An image that did not come from the memory cache fades in.
    ///
    /// In style sheets, the widget is an `alcedo-image` with the class `empty`, `placeholder`, `failure` or `image`.
    /// While an image is loading, the widget also has the class `loading`, and draws the progress as a line in its
    /// `color`. The widget clips its content to its `border-radius`.
    @MainActor public final class ImageView: ImageDisplaying {
        /// The `GtkWidget` to add to a window or a cell. Valid during the lifetime of the view, and afterwards while
        /// the widget is in a window, where it keeps showing its last content.
        public let widget: OpaquePointer
        private let canvas: ImageCanvas
        private let frames: FramePool?
        private var animator: ImageAnimator?
        private var styleClass = "empty"
        /// Whether a paused animation has to show the frame of a jump.
        private var seeks = false

        private let fadeDuration: Duration

        /// Creates a view that shows nothing.
        ///
        /// - Parameters:
        ///   - contentMode: The way to show an image whose aspect ratio differs from that of the view. Default: `fit`.
        ///   - frames: The pool of animation frames, preferably one for all views; nil to show only the first frame of
        ///     animations. Default: nil.
        ///   - fadeDuration: The duration of the fade of an image that did not come from the memory cache; zero or less
        ///     to disable it. Default: 150 ms.
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

        /// Whether animations play. Default: true.
        ///
        /// Animations pause while the widget is not visible, which means that it is unmapped or scrolled out of a
        /// `GtkScrolledWindow`.
        public var isPlaying = true {
            didSet {
                animator?.isPlaying = isPlaying
                updateTicking()
            }
        }

        /// The order in which the frames of animations are played. Default: forward.
        public var playbackMode = PlaybackMode.forward {
            didSet {
                animator?.playbackMode = playbackMode
                updateTicking()
            }
        }

        /// The speed of animations, as that of an ``/AlcedoViewBinding/ImageAnimator``. Zero and negative values stop
        /// them. Default: 1.
        public var rate = 1.0 {
            didSet {
                animator?.rate = rate
                updateTicking()
            }
        }

        /// The zero-based index of the due frame of the shown animation; nil if no animation is shown.
        ///
        /// Set it to jump to another frame, also while the animation is paused. An index out of range is treated as the
        /// nearest valid index. Setting it has no effect without an animation.
        public var frameIndex: Int? {
            get { animator?.frameIndex }
            set {
                guard let animator, let newValue else { return }
                animator.frameIndex = newValue
                seeks = true
                updateTicking()
            }
        }

        /// The current `GdkTexture`, borrowed; nil if nothing is shown.
        public var texture: OpaquePointer? { canvas.texture }

        /// The progress that is drawn as a line, from 0 to 1; nil if no line is drawn.
        package var progress: Double? { canvas.progress }

        /// Shows the content upright, without a fade. Shows nothing if the image is too large for GTK, or if there is
        /// no memory for a copy.
        public func display(_ content: DisplayContent) { show(content, fading: .zero) }

        /// Shows the content upright, with a fade if the widget is visible. Shows nothing if the image is too large for
        /// GTK, or if there is no memory for a copy.
        public func transition(to content: DisplayContent) { show(content, fading: fadeDuration) }

        /// The view's size in device pixels, which takes the scale factor of the window into account;
        /// ``/AlcedoViewBinding/DisplaySize/pending`` while a side is zero, as before the first layout.
        public var displaySize: DisplaySize {
            canvas.size.map { .target(TargetSize($0, mode: canvas.mode)) } ?? .pending
        }

        /// Calls `handler` during GTK's layout when the widget is allocated a size.
        public func observeDisplaySize(_ handler: @escaping @MainActor () -> Void) { canvas.onResize = handler }

        /// Sets or removes the style class `loading`, and removes the progress line.
        public func showActivity(_ isActive: Bool) {
            canvas.progress = nil
            setClass("loading", isActive)
        }

        /// Shows the progress as a line along the lower edge. Removes the line if the number of expected bytes is
        /// unknown or zero.
        public func showProgress(_ progress: DownloadProgress) {
            guard let expected = progress.expected, expected > 0 else { return canvas.progress = nil }
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
            (animator, seeks) = (nil, false)
            canvas.visibility.stopWaiting()
            guard let frames, case .image(let image, from: _)? = content else { return }
            animator = ImageAnimator(image, pool: frames) { [weak self] in self?.updateTicking() }
            animator?.isPlaying = isPlaying
            animator?.playbackMode = playbackMode
            animator?.rate = rate
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

        private var plays: Bool { (isPlaying || seeks) && animator.map { !$0.isHidden } == true }

        private func updateTicking() {
            if plays { canvas.startTicking() } else { canvas.stopTicking() }
        }

        /// Shows the animation's frame at a time.
        ///
        /// - Returns: The time at which the next frame is due; nil if no frame is due.
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
            // A late frame of a paused animation arrives with a further tick.
            if seeks { seeks = animator.isLate }
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

    /// The GTK widget class of an ``ImageView``, which draws its ``ImageCanvas``.
    ///
    /// `GtkPicture` is not used, because it requests a new layout of the whole window for every image and does not
    /// report the size that it is allocated. This widget has no natural size; its container determines the size.
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
                        // GTK calls this only on the main thread, which the C declaration cannot express.
                        nonisolated(unsafe) let (drawn, target) = (widget, snapshot)
                        MainActor.assumeIsolated { ImageWidget.canvas(of: drawn)?.draw(into: target) }
                    }
                    widgetClass.pointee.size_allocate = { widget, _, _, _ in
                        guard let widget else { return }
                        // As above, GTK calls this only on the main thread.
                        nonisolated(unsafe) let resized = widget
                        MainActor.assumeIsolated { ImageWidget.canvas(of: resized)?.sizeHasChanged() }
                    }
                    gtk_widget_class_set_css_name(widgetClass, "alcedo-image")
                    gtk_widget_class_set_accessible_role(widgetClass, GTK_ACCESSIBLE_ROLE_IMG)
                },
                guint(MemoryLayout<GtkWidget>.size), nil, GTypeFlags(0))
        }()

        /// Creates a widget with a floating reference, and its canvas, which the widget retains.
        static func make() -> (widget: OpaquePointer, canvas: ImageCanvas) {
            let object = g_object_new_with_properties(type, 0, nil, nil)
            // GTK terminates the process when memory for an object is exhausted.
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
