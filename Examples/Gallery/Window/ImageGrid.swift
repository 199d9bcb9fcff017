#if GTK
    import Alcedo
    import AlcedoGTK
    import CGTK

    /// The scrolling grid, with its list model, cells and prefetcher.
    @MainActor final class ImageGrid: GridCellOwner {
        let widget: Widget
        let tally = LayerTally()
        /// The time of each bind, for the self-test.
        let bindTimes = BindTimes()
        let frames: FramePool
        var onActivate: ((_ position: Int) -> Void)?
        /// The shown items.
        private(set) var items: [GalleryItem] = []
        private(set) var cellWidth: Int

        private let stack: GalleryStack
        private let model = gtk_string_list_new(nil)
        private let selection: OpaquePointer
        private let view: OpaquePointer
        private var factory: CellFactory<MeteredCell>?
        private var prefetcher: ScrollPrefetcher?
        private(set) var visiblePositions = 0..<0

        init(stack: GalleryStack, cellWidth: Int) {
            self.stack = stack
            frames = stack.frames
            self.cellWidth = cellWidth
            // The selection takes ownership of the model, and the view takes ownership of the selection.
            g_object_ref(UnsafeMutableRawPointer(model))
            selection = gtk_single_selection_new(model)
            gtk_single_selection_set_autoselect(selection, 0)
            gtk_single_selection_set_can_unselect(selection, 1)
            let grid: Widget = gtk_grid_view_new(selection, nil)
            view = grid.opaque
            let scroller: Widget = gtk_scrolled_window_new()
            gtk_scrolled_window_set_child(scroller.opaque, grid)
            gtk_scrolled_window_set_policy(scroller.opaque, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
            widget = scroller.expanding()
            Signal.connect(grid.object, "activate") { [weak self] in
                guard let self, let position = self.selectedPosition else { return }
                self.onActivate?(position)
            }
            makeCells()
            // The grid does not scroll horizontally, so this changes only with the width.
            let across = gtk_scrolled_window_get_hadjustment(scroller.opaque)
            Signal.connect(UnsafeMutableRawPointer(across).unsafelyUnwrapped, "changed") { [weak self] in
                // Deferred until the current layout has finished.
                Task { self?.limitColumns() }
            }
            let adjustment = OpaquePointer(gtk_scrolled_window_get_vadjustment(scroller.opaque))
            prefetcher = adjustment.map { adjustment in
                ScrollPrefetcher(
                    adjustment: adjustment, ahead: 48, count: { [weak self] in self?.items.count ?? 0 },
                    request: { [weak self] in self?.prefetchRequest(at: $0) },
                    start: { [stack] in stack.prefetcher.start($0) }, stop: { [stack] in stack.prefetcher.stop($0) },
                    onMove: { [weak self] in self?.moved(to: $0) })
            }
            WheelScroller(scrolledWindow: scroller.opaque)
        }

        private func moved(to positions: Range<Int>) {
            guard positions != visiblePositions else { return }
            visiblePositions = positions
            for (position, cell) in boundCells where cell.state == .loading {
                cell.setVisible(positions.contains(position))
            }
        }

        /// Limits the number of columns to those that fit. GTK creates thirty rows of cells, each with the maximum
        /// number of columns.
        private func limitColumns() {
            let width = guint(max(0, gtk_widget_get_width(Widget(view))))
            let count = max(1, width / guint(cellWidth))
            if gtk_grid_view_get_max_columns(view) != count { gtk_grid_view_set_max_columns(view, count) }
        }

        // MARK: Items

        /// Replaces all items, and shows the list from the start.
        func show(_ items: [GalleryItem]) {
            let before = self.items.count
            self.items = items
            replace(0..<before, by: items.count)
            prefetcher?.reset()
        }

        /// Appends items.
        func add(_ items: [GalleryItem]) {
            let end = self.items.count
            self.items += items
            replace(end..<end, by: items.count)
        }

        /// Replaces positions in the model. The model only counts; items are looked up by position.
        private func replace(_ positions: Range<Int>, by count: Int) {
            "".withCString { empty in
                var names = [UnsafePointer<CChar>?](repeating: empty, count: count)
                names.append(nil)
                gtk_string_list_splice(model, guint(positions.lowerBound), guint(positions.count), &names)
            }
        }

        /// Replaces the cells with cells of another width, which load images of another size.
        func setCellWidth(_ width: Int) {
            guard width != cellWidth else { return }
            cellWidth = width
            limitColumns()
            makeCells()
            prefetcher?.reset()
        }

        func retryFailures() {
            for (_, cell) in factory?.boundCells ?? [] { cell.cell.retry() }
        }

        /// Binds all cells again, after the caches were emptied.
        func reload() { makeCells() }

        private func makeCells() {
            let width = cellWidth
            let factory = CellFactory { [unowned self] in
                MeteredCell(GridCell(width: width, grid: self, loader: stack.pipeline), times: bindTimes)
            }
            gtk_grid_view_set_factory(view, factory.factory)
            self.factory = factory
        }

        // MARK: Selection and visibility

        var selectedPosition: Int? {
            get {
                let position = gtk_single_selection_get_selected(selection)
                return position < guint(items.count) ? Int(position) : nil
            }
            set { gtk_single_selection_set_selected(selection, newValue.map { guint($0) } ?? guint.max) }
        }

        /// Shows and selects the first or the last image. GTK's own keys do not scroll the list when the target already
        /// has the focus.
        func scroll(toEnd: Bool) {
            let adjustment = gtk_scrolled_window_get_vadjustment(widget.opaque)
            gtk_adjustment_set_value(
                adjustment, toEnd ? gtk_adjustment_get_upper(adjustment) : gtk_adjustment_get_lower(adjustment))
            selectedPosition = items.isEmpty ? nil : toEnd ? items.count - 1 : 0
            if let selectedPosition { moveFocus(to: selectedPosition) }
        }

        /// Moves the keyboard focus to an image, from which the arrow keys continue.
        private func moveFocus(to position: Int) {
            // This also creates the cell if there is none.
            gtk_widget_activate_action_variant(
                Widget(view), "list.scroll-to-item", g_variant_new_uint32(guint32(position)))
            guard let cell = boundCells.first(where: { $0.position == position })?.cell else { return }
            // GTK wraps the cell's widget in its own widget for the item.
            gtk_widget_grab_focus(gtk_widget_get_parent(Widget(cell.widget)))
        }

        func focus() { gtk_widget_grab_focus(Widget(view)) }

        /// The cells that have an item, visible or near the visible area.
        var boundCells: [(position: Int, cell: GridCell)] {
            (factory?.boundCells ?? []).map { ($0.position, $0.cell.cell) }
        }

        var cellCount: Int { bindTimes.cellCount }

        // MARK: GridCellOwner

        func item(at position: Int) -> GalleryItem? { items.indices.contains(position) ? items[position] : nil }

        func thumbnail(_ request: ImageRequest) -> ImageRequest {
            let (size, scale) = (GridCell.size(ofWidth: cellWidth), Int(gtk_widget_get_scale_factor(widget)))
            return GalleryStack.thumbnail(
                request, covering: PixelSize(width: size.width * scale, height: size.height * scale))
        }

        func isVisible(_ position: Int) -> Bool { visiblePositions.contains(position) }

        func cellDidLoad(_ result: Result<ImageResponse, any Error>, of request: ImageRequest) {
            guard let response = try? result.get() else { return tally.addFailure() }
            tally.add(stack.sources.layer(of: response, to: request))
        }

        func cellWasClicked(at position: Int) {
            selectedPosition = position
            onActivate?(position)
        }

        private func prefetchRequest(at position: Int) -> ImageRequest? {
            item(at: position).map { thumbnail($0.request) }
        }
    }
#endif
