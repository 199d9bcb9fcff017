#if GTK
    import Alcedo
    import AlcedoGTK
    import CGTK

    /// One picture, whole, and what is known of it, beside the grid.
    @MainActor final class DetailsPane {
        let widget: Widget
        private(set) var item: GalleryItem?

        private let revealer: Widget
        private let picture: PictureView
        private let name = Widget.label(classes: "details-name")
        private let facts = FactTable()
        private let binder: ImageBinder

        init(stack: GalleryStack) {
            picture = PictureView(frames: stack.frames)
            binder = ImageBinder(view: picture, loader: stack.pipeline)
            let pictureWidget = Widget(picture.widget)
            gtk_widget_set_size_request(pictureWidget, 348, 261)
            gtk_label_set_wrap(name.opaque, 1)
            revealer = gtk_revealer_new()
            widget = revealer
            let close = Widget.button(icon: "window-close-symbolic", tip: "Close (Escape)", classes: "flat") {
                [weak self] in self?.hide()
            }
            let again = Widget.button(icon: "view-refresh-symbolic", tip: "Ask the source again", classes: "flat") {
                [weak self] in self?.reload()
            }
            let top = Widget.box(
                GTK_ORIENTATION_HORIZONTAL, spacing: 4, [name.expanding(along: false), again, close])
            let content = Widget.box(
                GTK_ORIENTATION_VERTICAL, spacing: 14, [top, pictureWidget, facts.widget], classes: "details")
            // Whatever is to be said, the window stays as high as it is.
            let scroller: Widget = gtk_scrolled_window_new()
            gtk_scrolled_window_set_policy(scroller.opaque, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
            gtk_scrolled_window_set_child(scroller.opaque, content)
            gtk_revealer_set_child(revealer.opaque, scroller)
            gtk_revealer_set_transition_type(revealer.opaque, GTK_REVEALER_TRANSITION_TYPE_SLIDE_LEFT)
            gtk_widget_set_hexpand(content, 0)
            hide()
        }

        var isOpen: Bool { gtk_revealer_get_reveal_child(revealer.opaque) != 0 }

        func hide() {
            gtk_revealer_set_reveal_child(revealer.opaque, 0)
            binder.cancel()
            item = nil
        }

        func show(_ item: GalleryItem) {
            self.item = item
            name.setText(item.name)
            gtk_revealer_set_reveal_child(revealer.opaque, 1)
            switch item.request {
            case .success(let request): load(request, item)
            case .failure(let error): fail(error, item)
            }
        }

        private func reload() {
            guard let item, case .success(var request) = item.request else { return }
            request.cachePolicy = .reload
            load(request, item)
        }

        /// At its own size, so that the pane can say what that is.
        private func load(_ request: ImageRequest, _ item: GalleryItem) {
            facts.show([("Loading", "…"), ("From", item.origin)])
            let start = ContinuousClock.now
            binder.bind(request, options: BindingOptions(keepsCurrentImage: true, usesViewSize: false)) {
                [weak self] result in
                switch result {
                case .success(let response): self?.tell(response, after: ContinuousClock.now - start, item)
                case .failure(is CancellationError): break
                case .failure(let error): self?.fail(error, item)
                }
            }
        }

        private func tell(_ response: ImageResponse, after time: Duration, _ item: GalleryItem) {
            let image = response.image
            var rows = [
                ("Size", "\(image.size.width) × \(image.size.height) pixels"),
                ("Format", image.format?.rawValue.uppercased() ?? "unknown"),
            ]
            if let frames = image.frames { rows.append(("Frames", "\(frames.frameCount)")) }
            if let bytes = response.encodedByteCount { rows.append(("File", Self.kibibytes(bytes))) }
            rows += [
                ("In memory", Self.kibibytes(image.cost)), ("Layer", response.layer.rawValue),
                ("Time", Self.milliseconds(time)), ("From", item.origin),
            ]
            facts.show(rows)
        }

        private func fail(_ error: any Error, _ item: GalleryItem) {
            picture.display(.nothing)
            facts.show([("Failed", "\(error)"), ("From", item.origin)])
        }

        private static func kibibytes(_ bytes: Int) -> String {
            bytes < 10 << 20 ? "\((bytes + 1023) >> 10) KiB" : "\(bytes >> 20) MiB"
        }

        private static func milliseconds(_ time: Duration) -> String {
            let microseconds = time / .microseconds(1)
            return microseconds < 10_000 ? "\(Int(microseconds)) µs" : "\(Int(microseconds / 1000)) ms"
        }
    }
#endif
