#if GTK
    import Alcedo
    import AlcedoGTK
    import CGTK

    /// A pane beside the grid that shows one whole image and its properties.
    @MainActor final class DetailsPane {
        let widget: Widget
        private(set) var item: GalleryItem?

        private let revealer: Widget
        private let imageView: ImageView
        private let name = Widget.label(classes: "details-name")
        private let facts = FactTable()
        private let binder: ImageBinder
        private let stack: GalleryStack
        private let thumbnail: (ImageRequest) -> ImageRequest
        /// The number of the last load. Results of other loads are not shown.
        private var loadNumber = 0

        /// Creates a closed pane.
        ///
        /// - Parameters:
        ///   - stack: The stack that loads the image.
        ///   - thumbnail: A closure that returns the request of a grid cell, whose image is shown while the whole image
        ///     loads.
        init(stack: GalleryStack, thumbnail: @escaping (ImageRequest) -> ImageRequest) {
            self.stack = stack
            self.thumbnail = thumbnail
            imageView = ImageView(frames: stack.frames)
            binder = ImageBinder(view: imageView, pipeline: stack.pipeline)
            let imageWidget = Widget(imageView.widget)
            gtk_widget_set_size_request(imageWidget, 348, 261)
            gtk_label_set_wrap(name.opaque, 1)
            revealer = gtk_revealer_new()
            widget = revealer
            let close = Widget.button(icon: "window-close-symbolic", tip: "Close (Escape)", classes: "flat") {
                [weak self] in self?.hide()
            }
            let again = Widget.button(icon: "view-refresh-symbolic", tip: "Reload from the source", classes: "flat") {
                [weak self] in self?.reload()
            }
            let top = Widget.box(
                GTK_ORIENTATION_HORIZONTAL, spacing: 4, [name.expanding(along: false), again, close])
            let content = Widget.box(
                GTK_ORIENTATION_VERTICAL, spacing: 14, [top, imageWidget, facts.widget], classes: "details")
            // The pane scrolls, so that its content does not change the height of the window.
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
            loadNumber += 1
            binder.cancel()
            item = nil
        }

        func show(_ item: GalleryItem) {
            self.item = item
            name.setText(item.name)
            gtk_revealer_set_reveal_child(revealer.opaque, 1)
            load(item.request, item)
        }

        private func reload() {
            guard let item else { return }
            var request = item.request
            request.cachePolicy = .reload
            load(request, item)
        }

        /// Loads the image at the size of the pane. The properties of the file are read from its header.
        private func load(_ request: ImageRequest, _ item: GalleryItem) {
            loadNumber += 1
            facts.show([("Loading", "…"), ("From", item.origin)])
            var request = request
            request.dataCachePolicy = .both
            request.decoding.alphaMode = .premultiplied
            let start = ContinuousClock.now
            binder.load(request, options: BindingOptions(lowResolution: thumbnail(request))) {
                [weak self, loadNumber] result in
                guard let self, self.loadNumber == loadNumber else { return }
                switch result {
                case .success(let response):
                    let time = ContinuousClock.now - start
                    let layer = self.stack.sources.layer(of: response, to: request)
                    self.showFacts(response, layer, nil, after: time, item)
                    self.readHeader(request) { self.showFacts(response, layer, $0, after: time, item) }
                case .failure(is CancellationError): break
                case .failure(let error): self.fail(error, item)
                }
            }
        }

        private func readHeader(_ request: ImageRequest, _ showFacts: @escaping @MainActor (ImageInfo) -> Void) {
            Task { [weak self, stack, loadNumber] in
                guard let info = try? await stack.header(of: request), self?.loadNumber == loadNumber else { return }
                showFacts(info)
            }
        }

        private func showFacts(
            _ response: ImageResponse, _ layer: ImageLayer, _ info: ImageInfo?, after time: Duration,
            _ item: GalleryItem
        ) {
            let image = response.image
            var rows = [("Shown at", Self.pixels(image.size))]
            if let info { rows.insert(("Size", Self.pixels(info.uprightSize)), at: 0) }
            rows.append(("Format", (info?.format ?? image.format)?.rawValue.uppercased() ?? "unknown"))
            if let frames = image.frames { rows.append(("Frames", "\(frames.frameCount)")) }
            if let bytes = response.encodedByteCount { rows.append(("File", Self.kibibytes(bytes))) }
            rows += [
                ("In memory", Self.kibibytes(image.cost)), ("Layer", layer.name),
                ("Time", Self.milliseconds(time)), ("From", item.origin),
            ]
            facts.show(rows)
        }

        private func fail(_ error: any Error, _ item: GalleryItem) {
            imageView.display(.nothing)
            facts.show([("Failed", "\(error)"), ("From", item.origin)])
        }

        private static func pixels(_ size: PixelSize) -> String { "\(size.width) × \(size.height) pixels" }

        private static func kibibytes(_ bytes: Int) -> String {
            bytes < 10 << 20 ? "\((bytes + 1023) >> 10) KiB" : "\(bytes >> 20) MiB"
        }

        private static func milliseconds(_ time: Duration) -> String {
            let microseconds = time / .microseconds(1)
            return microseconds < 10_000 ? "\(Int(microseconds)) µs" : "\(Int(microseconds / 1000)) ms"
        }
    }

    /// A table of names and values in two columns.
    @MainActor private final class FactTable {
        private static let rowCount = 9

        let widget: Widget
        private let rows: [(key: Widget, value: Widget)]

        init() {
            let grid: Widget = gtk_grid_new()
            gtk_grid_set_column_spacing(grid.cast(), 14)
            gtk_grid_set_row_spacing(grid.cast(), 6)
            rows = (0..<Self.rowCount).map { row in
                let (key, value) = (Widget.label(classes: "key"), Widget.label(classes: "value"))
                gtk_label_set_wrap(value.opaque, 1)
                gtk_label_set_wrap_mode(value.opaque, PANGO_WRAP_WORD_CHAR)
                gtk_label_set_max_width_chars(value.opaque, 30)
                gtk_label_set_selectable(value.opaque, 1)
                gtk_label_set_yalign(key.opaque, 0)
                gtk_grid_attach(grid.cast(), key, 0, Int32(row), 1, 1)
                gtk_grid_attach(grid.cast(), value, 1, Int32(row), 1, 1)
                return (key, value)
            }
            widget = grid
        }

        /// Shows facts, up to the number of rows.
        func show(_ facts: [(String, String)]) {
            for (index, row) in rows.enumerated() {
                let fact = index < facts.count ? facts[index] : nil
                row.key.isVisible = fact != nil
                row.value.isVisible = fact != nil
                row.key.setText(fact?.0 ?? "")
                row.value.setText(fact?.1 ?? "")
            }
        }
    }
#endif
