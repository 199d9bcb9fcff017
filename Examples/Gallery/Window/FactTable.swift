#if GTK
    import CGTK

    /// Names and values in two columns.
    @MainActor final class FactTable {
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

        /// Shows these, as many as there is room for.
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
