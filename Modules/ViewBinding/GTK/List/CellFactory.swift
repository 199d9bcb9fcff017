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
        public var cellCount: Int { cells.count }
    }
#endif
