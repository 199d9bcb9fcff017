#if GTK
    import CGTK

    /// Which cell belongs to which `GtkListItem`.
    @MainActor final class CellTable<Cell: RecycledCell> {
        private struct Entry {
            var cell: Cell
            var isBound = false
        }

        private let makeCell: @MainActor () -> Cell
        private var entries: [OpaquePointer: Entry] = [:]

        init(makeCell: @escaping @MainActor () -> Cell) { self.makeCell = makeCell }

        var count: Int { entries.count }

        var bound: [(position: Int, cell: Cell)] {
            entries.compactMap { item, entry in entry.isBound ? Self.position(of: item).map { ($0, entry.cell) } : nil }
        }

        func setUp(_ item: OpaquePointer) {
            let cell = makeCell()
            entries[item] = Entry(cell: cell)
            gtk_list_item_set_child(item, UnsafeMutablePointer(cell.widget))
        }

        func bind(_ item: OpaquePointer) {
            guard let cell = entries[item]?.cell, let position = Self.position(of: item) else { return }
            entries[item]?.isBound = true
            cell.bind(to: position)
        }

        func unbind(_ item: OpaquePointer) {
            entries[item]?.isBound = false
            entries[item]?.cell.unbind()
        }

        func tearDown(_ item: OpaquePointer) {
            gtk_list_item_set_child(item, nil)
            entries[item] = nil
        }

        private static func position(of item: OpaquePointer) -> Int? {
            let position = gtk_list_item_get_position(item)
            // The highest number stands for none (GTK_INVALID_LIST_POSITION).
            return position == guint.max ? nil : Int(position)
        }
    }
#endif
