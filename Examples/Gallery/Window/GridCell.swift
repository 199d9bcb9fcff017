#if GTK
    import Alcedo
    import AlcedoGTK
    import CGTK

    /// A cell of the grid: an image, its name below it, and an error text over it after a failure.
    @MainActor final class GridCell: RecycledCell {
        enum State {
            case idle
            case loading
            case shown
            case failed
        }

        let widget: OpaquePointer
        let imageView: ImageView
        private(set) var state = State.idle
        /// The item that the cell shows or loads.
        private(set) var item: GalleryItem?

        private let name: Widget
        private let failure: Widget
        private let failureText: Widget
        private let binder: ImageBinder
        private let grid: any GridCellOwner
        private var position = 0

        init(width: Int, grid: any GridCellOwner, loader: any ImageLoading) {
            self.grid = grid
            imageView = ImageView(contentMode: .fill, frames: grid.frames)
            let size = GridCell.size(ofWidth: width)
            let imageWidget = Widget(imageView.widget)
            gtk_widget_set_size_request(imageWidget, Int32(size.width), Int32(size.height))
            failureText = .label()
            let icon: Widget = gtk_image_new_from_icon_name("image-missing-symbolic")
            gtk_image_set_pixel_size(icon.opaque, 24)
            failure = .box(GTK_ORIENTATION_VERTICAL, spacing: 4, [icon, failureText], classes: "failure")
            gtk_widget_set_halign(failure, GTK_ALIGN_CENTER)
            gtk_widget_set_valign(failure, GTK_ALIGN_CENTER)
            gtk_widget_set_halign(failureText, GTK_ALIGN_CENTER)
            failure.isVisible = false
            let overlay: Widget = gtk_overlay_new()
            gtk_overlay_set_child(overlay.opaque, imageWidget)
            gtk_overlay_add_overlay(overlay.opaque, failure)
            name = .label(classes: "cell-name")
            gtk_label_set_ellipsize(name.opaque, PANGO_ELLIPSIZE_MIDDLE)
            gtk_label_set_max_width_chars(name.opaque, 1)
            gtk_label_set_xalign(name.opaque, 0.5)
            let box = Widget.box(GTK_ORIENTATION_VERTICAL, [overlay, name])
            gtk_widget_set_halign(box, GTK_ALIGN_CENTER)
            widget = box.opaque
            g_object_ref_sink(box.object)
            binder = ImageBinder(view: imageView, pipeline: loader)
            let click = gtk_gesture_click_new()
            Signal.connect(UnsafeMutableRawPointer(click).unsafelyUnwrapped, "released") { [weak self] in
                guard let self else { return }
                self.grid.cellWasClicked(at: self.position)
            }
            gtk_widget_add_controller(box, click)
        }

        isolated deinit { g_object_unref(UnsafeMutableRawPointer(widget)) }

        /// Returns the size of a cell's image with the given width, in points.
        static func size(ofWidth width: Int) -> PixelSize { PixelSize(width: width, height: width * 3 / 4) }

        func bind(to position: Int) {
            self.position = position
            guard let item = grid.item(at: position) else { return }
            self.item = item
            name.setText(item.name)
            load(item)
        }

        func unbind() {
            binder.cancel()
            imageView.display(.nothing)
            item = nil
            set(.idle)
        }

        /// Sets the priority of the load: high for a visible cell, low otherwise.
        func setVisible(_ isVisible: Bool) { binder.setPriority(isVisible ? .high : .low) }

        /// Loads the image again if the last load failed.
        func retry() {
            guard state == .failed, let item else { return }
            load(item)
        }

        private func load(_ item: GalleryItem) {
            set(.loading)
            binder.load(grid.thumbnail(item.request)) { [weak self] result in self?.finish(result, of: item.request) }
            if state == .loading { setVisible(grid.isVisible(position)) }
        }

        private func finish(_ result: Result<ImageResponse, any Error>, of request: ImageRequest) {
            switch result {
            case .success: set(.shown)
            case .failure(is CancellationError): return
            case .failure(let error):
                failureText.setText("\(error)".count < 24 ? "\(error)" : "not available")
                gtk_widget_set_tooltip_text(failure, "\(error)")
                set(.failed)
            }
            grid.cellDidLoad(result, of: request)
        }

        private func set(_ state: State) {
            guard state != self.state else { return }
            if state == .failed || self.state == .failed {
                failure.isVisible = state == .failed
                Widget(widget).setClass("failed", state == .failed)
            }
            self.state = state
        }
    }

    /// The owner of a cell, which provides items and receives events.
    @MainActor protocol GridCellOwner: AnyObject {
        /// The pool of animation frames for all cells.
        var frames: FramePool { get }
        func item(at position: Int) -> GalleryItem?
        /// Returns the request at the size of a cell.
        func thumbnail(_ request: ImageRequest) -> ImageRequest
        /// Returns whether the cell at a position is visible, not only near the visible area.
        func isVisible(_ position: Int) -> Bool
        /// Records the end of a load that was not canceled.
        func cellDidLoad(_ result: Result<ImageResponse, any Error>, of request: ImageRequest)
        func cellWasClicked(at position: Int)
    }
#endif
