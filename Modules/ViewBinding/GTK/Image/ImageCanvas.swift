#if GTK
    package import AlcedoCore
    import CGTK

    /// The content of an image widget: a texture, and during a fade also the previous texture.
    ///
    /// The widget owns the canvas, so that a widget that outlives its ``ImageView`` still draws.
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

        /// A retained `GdkTexture`.
        private final class Texture {
            let pointer: OpaquePointer

            /// Takes ownership of the caller's reference.
            init(_ pointer: OpaquePointer) { self.pointer = pointer }

            deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }
        }

        /// The widget, which is not retained. The pointer stays valid, because the widget owns the canvas.
        private let widget: UnsafeMutablePointer<GtkWidget>
        private var shown: Drawn?
        private var covered: Drawn?
        private var fade = ImageFade()
        private var schedule: FrameSchedule?
        let visibility: WidgetVisibility

        var mode = TargetSize.ContentMode.fit { didSet { gtk_widget_queue_draw(widget) } }
        /// The progress of the download, from 0 to 1; nil to draw no line.
        var progress: Double? { didSet { if progress != oldValue { gtk_widget_queue_draw(widget) } } }
        /// A closure that is called when the widget is allocated a size.
        var onResize: (@MainActor () -> Void)?
        /// A closure that is called when the widget is mapped or unmapped.
        var onMap: (@MainActor () -> Void)?
        /// A closure that receives the time of a frame, after ``startTicking()`` was called. It returns the time at
        /// which the next frame is due; nil if no frame is due.
        var onTick: (@MainActor (_ time: Duration) -> Duration?)?

        init(widget: UnsafeMutablePointer<GtkWidget>) {
            self.widget = widget
            visibility = WidgetVisibility(widget: widget)
            schedule = FrameSchedule(widget: OpaquePointer(widget)) { [weak self] in self?.advance(to: $0) }
        }

        /// The current texture, borrowed; nil if nothing is shown.
        var texture: OpaquePointer? { shown?.texture.pointer }

        /// The widget's size in device pixels; nil while a side is zero, as before the first layout.
        var size: PixelSize? {
            let scale = Int(gtk_widget_get_scale_factor(widget))
            let size = PixelSize(
                width: Int(gtk_widget_get_width(widget)) * scale, height: Int(gtk_widget_get_height(widget)) * scale)
            return size.isPositive ? size : nil
        }

        /// Shows a texture, or nothing.
        ///
        /// - Parameters:
        ///   - texture: The texture, whose reference is consumed; nil to show nothing.
        ///   - fading: The duration of the fade from the previous texture. If it is zero or less, or the widget is not
        ///     visible, the texture is shown immediately.
        func show(_ texture: OpaquePointer?, fading: Duration) {
            covered = shown
            shown = texture.map { Drawn(taking: $0) }
            // An invisible widget does not need a fade.
            if fading > .zero, shown != nil, visibility.isVisible {
                fade.start(lasting: fading)
                startTicking()
            } else {
                endFade()
                stopTicking()
            }
            gtk_widget_queue_draw(widget)
        }

        /// Replaces the texture with the next frame of the same animation. Consumes the reference.
        func showNext(_ texture: OpaquePointer) {
            shown = Drawn(taking: texture)
            gtk_widget_queue_draw(widget)
        }

        /// Requests the next frame.
        func startTicking() { schedule?.start() }

        /// Stops requesting frames, unless a fade is running.
        func stopTicking() {
            if !fade.isRunning { schedule?.stop() }
        }

        /// Advances the fade and the animation to a time.
        ///
        /// - Returns: The time at which the next frame is due; nil if no frame is due.
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

        /// Removes the closures and the progress. The current texture stays, and a fade in progress continues.
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

        /// Draws a progress line along the lower edge.
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
            // GTK draws in layout points.
            let scale = Float(gtk_widget_get_scale_factor(widget))
            var bounds = graphene_rect_t(
                origin: graphene_point_t(x: Float(placement.x) / scale, y: Float(placement.y) / scale),
                size: graphene_size_t(
                    width: Float(placement.size.width) / scale, height: Float(placement.size.height) / scale))
            gtk_snapshot_append_texture(snapshot, shown.texture.pointer, &bounds)
        }
    }

    /// A schedule that requests a widget's frames when they are due. During a pause of at least ``shortestPause``, it
    /// requests no frames.
    @MainActor private final class FrameSchedule {
        /// The shortest pause for which a timer is used, the frame duration of most screens. For shorter pauses, the
        /// next frame is requested immediately.
        private static let shortestPause = Duration.microseconds(16_667)

        private let widget: OpaquePointer
        private let onFrame: @MainActor (_ time: Duration) -> Duration?
        private lazy var ticker = FrameTicker(widget: widget) { [weak self] in self?.run($0) ?? false }
        private lazy var alarm = FrameAlarm { [weak self] in self?.ticker.start() }

        /// Creates a schedule.
        ///
        /// - Parameters:
        ///   - widget: The `GtkWidget`, which is not retained.
        ///   - onFrame: A closure that receives the time of a frame before it is laid out and drawn. It returns the
        ///     time at which the next frame is due; nil if no frame is due.
        init(widget: OpaquePointer, onFrame: @escaping @MainActor (_ time: Duration) -> Duration?) {
            self.widget = widget
            self.onFrame = onFrame
        }

        /// Requests the next frame.
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

    /// A timer that runs a closure at a given time of the frame clock. No frames are requested until then.
    @MainActor private final class FrameAlarm {
        private let onTime: @MainActor () -> Void
        private var source: guint?

        init(onTime: @escaping @MainActor () -> Void) { self.onTime = onTime }

        /// Sets the timer. Replaces the time that was set before.
        ///
        /// - Parameter time: The time on the frame clock. A time in the past is treated as now, and a time more than 49
        ///   days ahead as 49 days ahead.
        func set(to time: Duration) {
            cancel()
            // Frame clocks use GLib's monotonic time. The delay is rounded up, so that the due frame has begun.
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

    /// The progress of a fade from one image to another.
    package struct ImageFade {
        package private(set) var isRunning = false
        /// The opacity of the new image, from 0 to 1.
        package private(set) var opacity = 1.0
        private var length = Duration.zero
        private var start: Duration?

        package init() {}

        /// Starts the fade with the next drawn frame.
        package mutating func start(lasting length: Duration) {
            self.length = length
            (isRunning, opacity, start) = (true, 0, nil)
        }

        /// Advances the fade.
        ///
        /// - Parameter time: The time of the frame that will be drawn.
        package mutating func advance(to time: Duration) {
            guard isRunning else { return }
            let first = start ?? time
            start = first
            let part = length > .zero ? (time - first) / length : 1
            // The fade slows down toward the end. A linear fade appears to stop abruptly.
            opacity = 1 - (1 - min(max(part, 0), 1)) * (1 - min(max(part, 0), 1))
            if part >= 1 { end() }
        }

        package mutating func end() { (isRunning, opacity) = (false, 1) }
    }

    /// The position and size of an image in a view, in device pixels.
    package struct ImagePlacement: Equatable {
        package var x: Int
        package var y: Int
        package var size: PixelSize

        /// Centers an image in a view. Returns nil if either has no size.
        ///
        /// The position is in whole pixels, so that an image that was decoded for this view is drawn without
        /// resampling. An image smaller than the view is enlarged.
        package init?(of image: PixelSize, in view: PixelSize, mode: TargetSize.ContentMode) {
            guard image.isPositive, view.isPositive else { return nil }
            size = image.scaled(to: view, mode: mode, enlarging: true)
            x = (view.width - size.width).floored(by: 2)
            y = (view.height - size.height).floored(by: 2)
        }
    }

    extension Int {
        /// Returns the quotient rounded down, whereas `/` rounds toward zero.
        fileprivate func floored(by divisor: Int) -> Int { (self - (self % divisor + divisor) % divisor) / divisor }
    }
#endif
