#if GTK
    import CGTK

    /// Which cell belongs to which `GtkListItem`.
    ///
    /// GTK takes an item from its cell and gives it back at once when no more than the focus or the selection has changed.
    /// A cell that stopped its load for that would begin it again at each arrow key. So a cell is told of its end in the
    /// next turn of the main loop, or before it gets another item, and not at all if its own comes back.
    @MainActor final class CellTable<Cell: RecycledCell> {
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
        private let laterWork = IdleWork()
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
            laterWork.schedule { [weak self] in self?.endAll() }
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
#endif
