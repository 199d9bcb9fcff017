#if GTK
    import Alcedo
    import AlcedoGTK
    import CGTK

    /// Reads what the cells of a grid show.
    @MainActor struct CellReader {
        let window: Widget
        let grid: PictureGrid

        /// The cells whose pictures are in sight as a whole.
        func read() -> [CellReading] {
            var view = graphene_rect_t()
            guard gtk_widget_compute_bounds(grid.widget, window, &view) != 0 else { return [] }
            var (left, top) = (0.0, 0.0)
            gtk_native_get_surface_transform(window.opaque, &left, &top)
            return grid.boundCells.compactMap { position, cell in
                let picture = Widget(cell.picture.widget)
                var bounds = graphene_rect_t()
                guard let expected = cell.item?.number, gtk_widget_get_mapped(picture) != 0,
                    gtk_widget_compute_bounds(picture, window, &bounds) != 0,
                    bounds.origin.y >= view.origin.y,
                    bounds.origin.y + bounds.size.height <= view.origin.y + view.size.height
                else { return nil }
                return CellReading(
                    position: position, expected: expected, found: cell.picture.texture.flatMap(number),
                    isFailed: cell.state == .failed, hasPicture: cell.picture.texture != nil,
                    x: left + Double(bounds.origin.x), y: top + Double(bounds.origin.y),
                    width: Double(bounds.size.width), height: Double(bounds.size.height))
            }
        }

        private func number(of texture: OpaquePointer) -> Int? {
            let size = PixelSize(
                width: Int(gdk_texture_get_width(texture)), height: Int(gdk_texture_get_height(texture)))
            var bytes = [UInt8](repeating: 0, count: size.pixelCount * 4)
            gdk_texture_download(texture, &bytes, gsize(size.width * 4))
            return NumberCode(in: size) { x, y in bytes[(y * size.width + x) * 4 + 1] }?.number
        }
    }
#endif
