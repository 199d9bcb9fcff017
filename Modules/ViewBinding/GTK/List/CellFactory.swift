#if GTK
    import CGTK

    /// A factory that creates the cells of a `GtkGridView` or a `GtkListView` and binds them as the list scrolls.
    ///
    /// ```swift
    /// let cells = CellFactory { PhotoCell(photos: photos, pipeline: pipeline) }
    /// gtk_grid_view_set_factory(gridView, cells.factory)
    /// ```
    ///
    /// A cell is released when the list no longer uses it, which also cancels the load of its binder.
    @MainActor public final class CellFactory<Cell: RecycledCell> {
        /// The `GtkListItemFactory` to pass to `gtk_grid_view_set_factory` or `gtk_list_view_set_factory`. Valid during
        /// the lifetime of this object; the list retains it separately.
        public let factory: OpaquePointer
        private let cells: CellTable<Cell>

        /// Creates a factory.
        ///
        /// - Parameter makeCell: A closure that creates a cell. It is called for each cell that the list needs: at most
        ///   some dozens or hundreds, even for a long list.
        public init(makeCell: @escaping @MainActor () -> Cell) {
            // GTK terminates the process when memory for an object is exhausted.
            let factory = gtk_signal_list_item_factory_new().unsafelyUnwrapped
            let cells = CellTable(makeCell: makeCell)
            self.factory = factory
            self.cells = cells
            let object = UnsafeMutableRawPointer(factory)
            // The factory retains the table instead of this object, because the list may outlive this object.
            Signal(object, "setup", withArgument: { $0.map { cells.setUp(OpaquePointer($0)) } })
            Signal(object, "bind", withArgument: { $0.map { cells.bind(OpaquePointer($0)) } })
            Signal(object, "unbind", withArgument: { $0.map { cells.unbind(OpaquePointer($0)) } })
            Signal(object, "teardown", withArgument: { $0.map { cells.tearDown(OpaquePointer($0)) } })
        }

        isolated deinit { g_object_unref(UnsafeMutableRawPointer(factory)) }

        /// The cells that show an item, each with the current position of its item, in no particular order. GTK binds
        /// more cells than are visible. O(*cells*).
        public var boundCells: [(position: Int, cell: Cell)] { cells.bound }

        package var cellCount: Int { cells.count }
    }

    /// A list cell that shows one item at a time and is reused for other items.
    ///
    /// ```swift
    /// @MainActor final class PhotoCell: RecycledCell {
    ///     private let photos: [URL]
    ///     private let view = ImageView(contentMode: .fill)
    ///     private let binder: ImageBinder
    ///
    ///     init(photos: [URL], pipeline: any ImageLoading) {
    ///         self.photos = photos
    ///         binder = ImageBinder(view: view, pipeline: pipeline)
    ///     }
    ///
    ///     var widget: OpaquePointer { view.widget }
    ///
    ///     func bind(to position: Int) { binder.load(photos[position]) }
    ///
    ///     func unbind() { binder.cancel() }
    /// }
    /// ```
    ///
    /// A long list has far fewer cells than items: a cell that scrolls out of sight is reused for another item.
    /// ``unbind()`` therefore has to cancel the work that ``bind(to:)`` started.
    @MainActor public protocol RecycledCell: AnyObject, Sendable {
        /// The `GtkWidget` of the cell. It must be the same during the lifetime of the cell.
        var widget: OpaquePointer { get }
        /// Shows the item at a position of the list's model.
        ///
        /// Runs while GTK lays out the list, so it must take well under a millisecond.
        func bind(to position: Int)
        /// Stops showing the item. Another item, or none, follows.
        ///
        /// Runs in the next iteration of the main loop after GTK unbinds the cell. It runs earlier if GTK removes the
        /// cell, or binds another item or another position to it. If GTK binds the same item at the same position again
        /// before that, as it does when the focus moves, neither ``bind(to:)`` nor this method is called.
        func unbind()
    }

    /// The cells of a list by their `GtkListItem`.
    ///
    /// GTK unbinds an item and immediately binds it again when only the focus or the selection changes. If that
    /// canceled the load, each arrow key would restart it. A cell is therefore unbound in the next iteration of the
    /// main loop, or before it receives another item. If GTK first binds the same item at the same position again, the
    /// cell is not unbound.
    @MainActor private final class CellTable<Cell: RecycledCell> {
        private struct Binding {
            var position: Int
            var item: ModelItem?
            /// Whether GTK has unbound the item, but the cell's `unbind()` has not been called yet.
            var isEnding = false
        }

        private struct Entry {
            var cell: Cell
            var binding: Binding?
        }

        private let makeCell: @MainActor () -> Cell
        private let idleCallback = IdleCallback()
        private var entries: [OpaquePointer: Entry] = [:]

        init(makeCell: @escaping @MainActor () -> Cell) { self.makeCell = makeCell }

        var count: Int { entries.count }

        var bound: [(position: Int, cell: Cell)] {
            entries.compactMap { item, entry in
                guard let binding = entry.binding, !binding.isEnding else { return nil }
                return Self.position(of: item).map { ($0, entry.cell) }
            }
        }

        func setUp(_ item: OpaquePointer) {
            let cell = makeCell()
            entries[item] = Entry(cell: cell)
            gtk_list_item_set_child(item, UnsafeMutablePointer(cell.widget))
        }

        func bind(_ item: OpaquePointer) {
            guard let entry = entries[item], let position = Self.position(of: item) else { return }
            let object = gtk_list_item_get_item(item)
            if let old = entry.binding, old.position == position, old.item?.isSame(as: object) == true {
                entries[item]?.binding?.isEnding = false
                return
            }
            end(item)
            entries[item]?.binding = Binding(position: position, item: object.map { ModelItem($0) })
            entry.cell.bind(to: position)
        }

        func unbind(_ item: OpaquePointer) {
            guard entries[item]?.binding != nil else { return }
            entries[item]?.binding?.isEnding = true
            idleCallback.schedule { [weak self] in self?.endAll() }
        }

        func tearDown(_ item: OpaquePointer) {
            end(item)
            gtk_list_item_set_child(item, nil)
            entries[item] = nil
        }

        private func endAll() {
            for (item, entry) in entries where entry.binding?.isEnding == true { end(item) }
        }

        private func end(_ item: OpaquePointer) {
            guard let entry = entries[item], entry.binding != nil else { return }
            entries[item]?.binding = nil
            entry.cell.unbind()
        }

        private static func position(of item: OpaquePointer) -> Int? {
            let position = gtk_list_item_get_position(item)
            // The maximum value represents no position (`GTK_INVALID_LIST_POSITION`).
            return position == guint.max ? nil : Int(position)
        }
    }

    /// A retained item of a list's model. Retaining it prevents another item from being allocated at its address.
    private final class ModelItem {
        private let pointer: gpointer

        init(_ pointer: gpointer) {
            self.pointer = pointer
            g_object_ref(pointer)
        }

        deinit { g_object_unref(pointer) }

        func isSame(as other: gpointer?) -> Bool { pointer == other }
    }

    /// A callback that runs once in the next iteration of GTK's main loop. Until then, further requests are ignored.
    @MainActor private final class IdleCallback {
        private var callback: (@MainActor () -> Void)?

        func schedule(_ callback: @escaping @MainActor () -> Void) {
            guard self.callback == nil else { return }
            self.callback = callback
            // The priority of input events, so that the callback runs before the next frame.
            g_idle_add_full(
                G_PRIORITY_DEFAULT,
                { idle in
                    guard let idle else { return 0 }
                    MainActor.assumeIsolated { Unmanaged<IdleCallback>.fromOpaque(idle).takeUnretainedValue().run() }
                    return 0
                }, Unmanaged.passRetained(self).toOpaque(),
                { idle in idle.map { Unmanaged<IdleCallback>.fromOpaque($0).release() } })
        }

        private func run() {
            let callback = callback
            self.callback = nil
            callback?()
        }
    }
#endif
