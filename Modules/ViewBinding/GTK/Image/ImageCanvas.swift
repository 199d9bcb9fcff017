#if GTK
    package import AlcedoCore
    import CGTK

    /// The content of an image widget: a texture, and for a moment the one before it.
    ///
    /// The widget owns it, so that a widget that outlives its ``ImageView`` still draws.
    @MainActor final class ImageCanvas {
        private struct Drawn {
            var texture: Texture
            var size: PixelSize

            init(taking pointer: OpaquePointer) {
                texture = Texture(pointer)
                size = PixelSize(
                    width: Int(gdk_texture_get_width(pointer)), height: Int(gdk_texture_get_height(pointer)))
            }
        }

        /// Holds a `GdkTexture`.
        private final class Texture {
            let pointer: OpaquePointer

            /// Takes over the caller's reference.
            init(_ pointer: OpaquePointer) { self.pointer = pointer }

            deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }
        }

        /// Unowned in effect: the widget lets go of the canvas when it ends.
        private let widget: UnsafeMutablePointer<GtkWidget>
        private var shown: Drawn?
        private var covered: Drawn?
        private var fade = ImageFade()
        private var schedule: FrameSchedule?
        /// Whether anybody sees the widget.
        let visibility: WidgetVisibility

        var mode = TargetSize.ContentMode.fit { didSet { gtk_widget_queue_draw(widget) } }
        /// How much has come of the picture that is on its way, from 0 to 1; nil: none is, or nobody knows.
        var progress: Double? { didSet { if progress != oldValue { gtk_widget_queue_draw(widget) } } }
        /// Called when the widget has been given a size.
        var onResize: (@MainActor () -> Void)?
        /// Called when the widget is mapped or unmapped.
        var onMap: (@MainActor () -> Void)?
        /// Called with the time of a frame, once ``startTicking()`` has asked for it. Says when the next one is due; nil:
        /// none is.
        var onTick: (@MainActor (_ time: Duration) -> Duration?)?

        init(widget: UnsafeMutablePointer<GtkWidget>) {
            self.widget = widget
            visibility = WidgetVisibility(widget: widget)
            schedule = FrameSchedule(widget: OpaquePointer(widget)) { [weak self] in self?.advance(to: $0) }
        }

        /// What is shown now; nil for nothing. Borrowed.
        var texture: OpaquePointer? { shown?.texture.pointer }

        /// The widget's size in device pixels; nil while it has none.
        var size: PixelSize? {
            let scale = Int(gtk_widget_get_scale_factor(widget))
            let size = PixelSize(
                width: Int(gtk_widget_get_width(widget)) * scale, height: Int(gtk_widget_get_height(widget)) * scale)
            return size.isPositive ? size : nil
        }

        /// Shows `texture`, whose reference is taken over, or nothing.
        ///
        /// - Parameter fading: How long it takes to cover what was there before; nought: at once.
        func show(_ texture: OpaquePointer?, fading: Duration) {
            covered = shown
            shown = texture.map { Drawn(taking: $0) }
            // What nobody sees need not fade.
            if fading > .zero, shown != nil, visibility.isVisible {
                fade.start(lasting: fading)
                startTicking()
            } else {
                endFade()
                stopTicking()
            }
            gtk_widget_queue_draw(widget)
        }

        /// Shows `texture`, whose reference is taken over, in place of the frame before it of one animation.
        func showNext(_ texture: OpaquePointer) {
            shown = Drawn(taking: texture)
            gtk_widget_queue_draw(widget)
        }

        /// Asks for the next frame.
        func startTicking() { schedule?.start() }

        /// Asks for no frames any more, but for those of a fade.
        func stopTicking() {
            if !fade.isRunning { schedule?.stop() }
        }

        /// - Returns: When there is more to do.
        private func advance(to time: Duration) -> Duration? {
            if fade.isRunning {
                fade.advance(to: time)
                if !fade.isRunning { covered = nil }
                gtk_widget_queue_draw(widget)
            }
            let next = onTick?(time)
            return fade.isRunning ? time : next
        }

        private func endFade() {
            fade.end()
            covered = nil
        }

        /// Nobody listens any more; what is shown stays.
        func end() {
            onResize = nil
            onTick = nil
            onMap = nil
            progress = nil
            visibility.stopWaiting()
            stopTicking()
        }

        func sizeHasChanged() { onResize?() }

        func draw(into snapshot: OpaquePointer) {
            guard let size else { return }
            if let covered { draw(covered, in: size, into: snapshot) }
            if fade.isRunning { gtk_snapshot_push_opacity(snapshot, fade.opacity) }
            if let shown { draw(shown, in: size, into: snapshot) }
            if fade.isRunning { gtk_snapshot_pop(snapshot) }
            if let progress { drawLine(progress, into: snapshot) }
        }

        /// Along the lower edge.
        private func drawLine(_ part: Double, into snapshot: OpaquePointer) {
            var color = GdkRGBA()
            gtk_style_context_get_color(gtk_widget_get_style_context(widget), &color)
            let (width, height) = (Float(gtk_widget_get_width(widget)), Float(gtk_widget_get_height(widget)))
            var bounds = graphene_rect_t(
                origin: graphene_point_t(x: 0, y: height - 3),
                size: graphene_size_t(width: width * Float(part), height: 3))
            gtk_snapshot_append_color(snapshot, &color, &bounds)
        }

        private func draw(_ shown: Drawn, in size: PixelSize, into snapshot: OpaquePointer) {
            guard let placement = ImagePlacement(of: shown.size, in: size, mode: mode) else { return }
            // GTK draws in points of the layout.
            let scale = Float(gtk_widget_get_scale_factor(widget))
            var bounds = graphene_rect_t(
                origin: graphene_point_t(x: Float(placement.x) / scale, y: Float(placement.y) / scale),
                size: graphene_size_t(
                    width: Float(placement.size.width) / scale, height: Float(placement.size.height) / scale))
            gtk_snapshot_append_texture(snapshot, shown.texture.pointer, &bounds)
        }
    }

    /// Asks the frame clock of a widget for the frames in which something changes, and for no others: between them the
    /// program sleeps.
    @MainActor private final class FrameSchedule {
        /// Sooner than this, the next frame is asked for at once: as long as a frame of most screens.
        private static let shortestPause = Duration.microseconds(16_667)

        private let widget: OpaquePointer
        private let onFrame: @MainActor (_ time: Duration) -> Duration?
        private lazy var ticker = FrameTicker(widget: widget) { [weak self] in self?.run($0) ?? false }
        private lazy var alarm = FrameAlarm { [weak self] in self?.ticker.start() }

        /// - Parameters:
        ///   - widget: As for a ``FrameTicker``.
        ///   - onFrame: Gets the time of a frame before it is laid out and drawn. Returns the time at which the next one
        ///     is due; nil: none is.
        init(widget: OpaquePointer, onFrame: @escaping @MainActor (_ time: Duration) -> Duration?) {
            self.widget = widget
            self.onFrame = onFrame
        }

        /// There is something to do in the next frame.
        func start() {
            alarm.cancel()
            ticker.start()
        }

        func stop() {
            alarm.cancel()
            ticker.stop()
        }

        private func run(_ time: Duration) -> Bool {
            guard let next = onFrame(time) else { return false }
            if next - time < Self.shortestPause { return true }
            alarm.set(to: next)
            return false
        }
    }

    /// Runs a closure at a time of the frame clock, without a frame until then.
    @MainActor private final class FrameAlarm {
        private let onTime: @MainActor () -> Void
        private var source: guint?

        init(onTime: @escaping @MainActor () -> Void) { self.onTime = onTime }

        /// - Parameter time: In place of the one before. One that has passed counts as now.
        func set(to time: Duration) {
            cancel()
            // Frame clocks tell GLib's monotonic time. Rounded up, so that what is due then has begun.
            let milliseconds = (time - .microseconds(g_get_monotonic_time())) / .milliseconds(1)
            source = g_timeout_add_full(
                G_PRIORITY_DEFAULT, guint(min(max(milliseconds.rounded(.up), 0), Double(guint.max))),
                { alarm in
                    guard let alarm else { return 0 }
                    MainActor.assumeIsolated { Unmanaged<FrameAlarm>.fromOpaque(alarm).takeUnretainedValue().run() }
                    return 0
                }, Unmanaged.passRetained(self).toOpaque(),
                { alarm in alarm.map { Unmanaged<FrameAlarm>.fromOpaque($0).release() } })
        }

        func cancel() {
            guard let source else { return }
            self.source = nil
            g_source_remove(source)
        }

        private func run() {
            source = nil
            onTime()
        }
    }

    /// How far one picture has covered another.
    package struct ImageFade {
        package private(set) var isRunning = false
        /// Of the picture that comes, from 0 to 1.
        package private(set) var opacity = 1.0
        private var length = Duration.zero
        private var start: Duration?

        package init() {}

        /// Begins with the next frame, whenever that is drawn.
        package mutating func start(lasting length: Duration) {
            self.length = length
            (isRunning, opacity, start) = (true, 0, nil)
        }

        /// - Parameter time: Of the frame that will be drawn.
        package mutating func advance(to time: Duration) {
            guard isRunning else { return }
            let first = start ?? time
            start = first
            let part = length > .zero ? (time - first) / length : 1
            // Slow at the end, where an even course looks as if it stopped short.
            opacity = 1 - (1 - min(max(part, 0), 1)) * (1 - min(max(part, 0), 1))
            if part >= 1 { end() }
        }

        package mutating func end() { (isRunning, opacity) = (false, 1) }
    }

    /// Where a picture is drawn in a view, in device pixels.
    package struct ImagePlacement: Equatable {
        package var x: Int
        package var y: Int
        package var size: PixelSize

        /// The picture in the middle of the view; nil when one of them has no size.
        ///
        /// At whole pixels, so that a picture that was decoded for this view is drawn as it is, without being sampled
        /// anew. A picture that is smaller than the view is enlarged.
        package init?(of image: PixelSize, in view: PixelSize, mode: TargetSize.ContentMode) {
            guard image.isPositive, view.isPositive else { return nil }
            size = image.scaled(to: view, mode: mode, enlarging: true)
            x = (view.width - size.width).floored(by: 2)
            y = (view.height - size.height).floored(by: 2)
        }
    }

    extension Int {
        /// The quotient rounded down, where `/` rounds to nought.
        fileprivate func floored(by divisor: Int) -> Int { (self - (self % divisor + divisor) % divisor) / divisor }
    }
#endif
