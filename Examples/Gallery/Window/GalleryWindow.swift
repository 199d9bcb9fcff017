#if GTK
    import Alcedo
    import AlcedoGTK
    import CGTK

    /// The window, which assembles the parts and forwards events between them.
    @MainActor final class GalleryWindow {
        private static let widths = [80, 112, 144, 176, 224, 288, 368, 480]
        private static let updateInterval = Duration.milliseconds(250)

        let window: Widget
        let grid: ImageGrid
        private let source: GallerySource
        /// All items, including those that the search does not match.
        private var items: [GalleryItem]
        /// Whether more names are being read.
        private var isReading: Bool
        private var searchWords: [Substring] = []
        private let stack: GalleryStack
        private let details: DetailsPane
        private let status = StatusBar()
        private let emptyLabel = Widget.label(classes: "nothing")
        private var header: HeaderBar?
        private let onClose: () -> Void

        init(source: GallerySource, stack: GalleryStack, cellWidth: Int, onClose: @escaping () -> Void) {
            self.source = source
            items = source.items
            isReading = source.names != nil
            self.stack = stack
            self.onClose = onClose
            grid = ImageGrid(stack: stack, cellWidth: cellWidth)
            details = DetailsPane(stack: stack) { [grid] in grid.thumbnail($0) }
            window = gtk_window_new()
            gtk_window_set_title(window.cast(), "Gallery")
            gtk_window_set_default_size(window.cast(), 1240, 800)
            gtk_widget_add_css_class(window, "gallery")
            assemble()
            grid.onActivate = { [weak self] in self?.showDetails(at: $0) }
            Signal.connect(window.object, "destroy") { [weak self] in self?.onClose() }
            _ = Keyboard(on: window) { [weak self] key in self?.press(key) ?? false }
            show("")
            grid.selectedPosition = 0
            update()
            updateRegularly()
            source.names?.read { [weak self] in self?.add($0, isOver: $1) }
        }

        func present() {
            gtk_window_present(window.cast())
            grid.focus()
        }

        private func assemble() {
            let network = NetworkPopover(conditions: stack.conditions, hasServer: source.server != nil) { [weak self] in
                self?.emptyCaches()
            }
            let header = HeaderBar(
                title: source.title, network: network.button, onSearch: { [weak self] in self?.show($0) },
                onZoom: { [weak self] in self?.zoom(larger: $0) })
            self.header = header
            gtk_window_set_titlebar(window.cast(), header.widget)
            gtk_widget_set_halign(emptyLabel, GTK_ALIGN_CENTER)
            gtk_widget_set_valign(emptyLabel, GTK_ALIGN_CENTER)
            let overlay: Widget = gtk_overlay_new()
            gtk_overlay_set_child(overlay.opaque, grid.widget)
            gtk_overlay_add_overlay(overlay.opaque, emptyLabel)
            let middle = Widget.box(GTK_ORIENTATION_HORIZONTAL, [overlay.expanding(), details.widget])
            gtk_window_set_child(window.cast(), .box(GTK_ORIENTATION_VERTICAL, [middle, status.widget]))
        }

        // MARK: User actions

        /// Shows the images whose names contain all words of the search text.
        func show(_ search: String) {
            searchWords = search.lowercased().split(separator: " ")
            grid.show(items.filter { isFound($0) })
            updateCount()
        }

        private func add(_ named: [GalleryItem], isOver: Bool) {
            let isFirst = items.isEmpty
            items += named
            isReading = !isOver
            grid.add(named.filter { isFound($0) })
            if isFirst, !named.isEmpty { grid.selectedPosition = 0 }
            updateCount()
        }

        private func isFound(_ item: GalleryItem) -> Bool {
            guard !searchWords.isEmpty else { return true }
            let name = item.name.lowercased()
            return searchWords.allSatisfy { name.contains($0) }
        }

        private func updateCount() {
            let (found, total) = (grid.items.count, items.count)
            emptyLabel.isVisible = found == 0
            emptyLabel.setText(
                total > 0
                    ? "No matching names"
                    : isReading ? "Reading names from standard input" : "No images")
            let all = isReading ? "\(total) images so far" : "\(total) images"
            header?.setSubtitle(found == total ? all : "\(found) of \(all)")
        }

        func showDetails(at position: Int) {
            if let item = grid.item(at: position) { details.show(item) }
        }

        func zoom(larger: Bool) {
            let widths = Self.widths
            let next = larger ? widths.first { $0 > grid.cellWidth } : widths.last { $0 < grid.cellWidth }
            if let next { grid.setCellWidth(next) }
        }

        private func emptyCaches() {
            Task {
                await stack.emptyCaches()
                grid.reload()
            }
        }

        private func press(_ key: guint) -> Bool {
            let isTyping = header?.searchHasFocus ?? false
            // Lowercased, so that the keys also work with Caps Lock.
            switch Int32(gdk_keyval_to_lower(key)) {
            case GDK_KEY_Escape:
                if isTyping {
                    header?.clearSearch()
                    grid.focus()
                } else {
                    details.hide()
                }
            case GDK_KEY_Return where isTyping, GDK_KEY_Down where isTyping: grid.focus()
            case _ where isTyping: return false
            case GDK_KEY_slash: header?.focusSearch()
            case GDK_KEY_plus, GDK_KEY_KP_Add, GDK_KEY_equal: zoom(larger: true)
            case GDK_KEY_minus, GDK_KEY_KP_Subtract: zoom(larger: false)
            case GDK_KEY_Home: grid.scroll(toEnd: false)
            case GDK_KEY_End: grid.scroll(toEnd: true)
            case GDK_KEY_r: grid.retryFailures()
            case GDK_KEY_q: gtk_window_destroy(window.cast())
            default: return false
            }
            return true
        }

        // MARK: Status

        private func updateRegularly() {
            Task { [weak self] in
                repeat { try? await Task.sleep(for: Self.updateInterval) } while self?.update() != nil
            }
        }

        private func update() {
            let loading = grid.boundCells.count { $0.cell.state == .loading }
            status.update(grid.tally, loading: loading, cells: grid.cellCount)
            if details.isOpen, let position = grid.selectedPosition, let item = grid.item(at: position),
                item.origin != details.item?.origin
            {
                details.show(item)
            }
        }
    }

    /// A handler for keys that have the same effect regardless of the focus.
    @MainActor private final class Keyboard {
        /// A closure that handles a key, and returns whether it did.
        typealias Handler = @MainActor (_ key: guint) -> Bool

        private let handler: Handler

        /// Creates a handler.
        ///
        /// - Parameters:
        ///   - window: The window, which owns the handler.
        ///   - handler: The closure that handles keys.
        init(on window: Widget, _ handler: @escaping Handler) {
            self.handler = handler
            guard let keys = gtk_event_controller_key_new() else { return }
            // The capture phase precedes the focused widget, which would treat `/` as text.
            gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE)
            let callback: @MainActor @convention(c) (OpaquePointer?, guint, guint, guint, gpointer?) -> gboolean = {
                guard let keyboard = $4 else { return 0 }
                return Unmanaged<Keyboard>.fromOpaque(keyboard).takeUnretainedValue().handler($1) ? 1 : 0
            }
            g_signal_connect_data(
                UnsafeMutableRawPointer(keys), "key-pressed", unsafeBitCast(callback, to: GCallback.self),
                Unmanaged.passRetained(self).toOpaque(),
                { keyboard, _ in keyboard.map { Unmanaged<Keyboard>.fromOpaque($0).release() } }, GConnectFlags(0))
            gtk_widget_add_controller(window, keys)
        }
    }
#endif
