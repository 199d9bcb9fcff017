#if GTK
    import CGTK

    /// Makes the cells of a `GtkGridView` or a `GtkListView`, and binds them as the list scrolls.
    ///
    /// A cell ends with the list's use of it, which cancels what its binder loads.
    @MainActor public final class CellFactory<Cell: RecycledCell> {
        /// The `GtkListItemFactory`, for `gtk_grid_view_set_factory` and the like. Valid for as long as this object; the
        /// list keeps it alive for itself.
        public let factory: OpaquePointer
        private let cells: CellTable<Cell>

        /// - Parameter makeCell: Called for each cell that the list needs; some dozens or hundreds, however long it is.
        public init(makeCell: @escaping @MainActor () -> Cell) {
            // GTK ends the process where there is no memory for an object.
            let factory = gtk_signal_list_item_factory_new().unsafelyUnwrapped
            let cells = CellTable(makeCell: makeCell)
            self.factory = factory
            self.cells = cells
            let object = UnsafeMutableRawPointer(factory)
            // The factory keeps the table, not this object, because a list may outlive whoever made it.
            Signal(object, "setup", withArgument: { $0.map { cells.setUp(OpaquePointer($0)) } })
            Signal(object, "bind", withArgument: { $0.map { cells.bind(OpaquePointer($0)) } })
            Signal(object, "unbind", withArgument: { $0.map { cells.unbind(OpaquePointer($0)) } })
            Signal(object, "teardown", withArgument: { $0.map { cells.tearDown(OpaquePointer($0)) } })
        }

        isolated deinit { g_object_unref(UnsafeMutableRawPointer(factory)) }

        /// The cells that have an item, and its position now. GTK binds more cells than are in sight. O(cells).
        public var boundCells: [(position: Int, cell: Cell)] { cells.bound }

        /// How many cells there are.
        package var cellCount: Int { cells.count }
    }

    /// A cell of a list that shows one item after another.
    ///
    /// A list has far fewer cells than items: a cell that scrolls out of sight comes back with another item. So `unbind`
    /// has to cancel what was begun for the old one.
    @MainActor public protocol RecycledCell: AnyObject, Sendable {
        /// A `GtkWidget`; the same for as long as the cell lives.
        var widget: OpaquePointer { get }
        /// Shows the item at a position of the list's model. Runs while GTK lays the list out, so it must take well
        /// under a millisecond.
        func bind(to position: Int)
        /// Stops to show the item: another one, or none, will follow. Runs in the turn of the main loop after GTK's own
        /// unbind, or right before the next `bind`; not at all when GTK binds the same item again by then, as it does
        /// when the focus moves: nothing is bound then, either.
        func unbind()
    }

    /// Which cell belongs to which `GtkListItem`.
    ///
    /// GTK takes an item from its cell and gives it back at once when no more than the focus or the selection has changed.
    /// A cell that stopped its load for that would begin it again at each arrow key. So a cell is told of its end in the
    /// next turn of the main loop, or before it gets another item, and not at all if its own comes back.
    @MainActor private final class CellTable<Cell: RecycledCell> {
        private struct Binding {
            var position: Int
            var item: ModelItem?
            /// Whether GTK has ended it, and the cell does not know that yet.
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
            // The highest number stands for none (GTK_INVALID_LIST_POSITION).
            return position == guint.max ? nil : Int(position)
        }
    }

    /// Holds an item of a list's model, so that no other one gets its address meanwhile.
    private final class ModelItem {
        private let pointer: gpointer

        init(_ pointer: gpointer) {
            self.pointer = pointer
            g_object_ref(pointer)
        }

        deinit { g_object_unref(pointer) }

        func isSame(as other: gpointer?) -> Bool { pointer == other }
    }

    /// Runs a closure in the next turn of GTK's main loop, once however often it is asked for until then.
    @MainActor private final class IdleCallback {
        private var callback: (@MainActor () -> Void)?

        func schedule(_ callback: @escaping @MainActor () -> Void) {
            guard self.callback == nil else { return }
            self.callback = callback
            // As urgent as input: before the next frame.
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
