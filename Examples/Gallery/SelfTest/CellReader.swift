#if GTK
    import Alcedo
    import AlcedoGTK
    import CGTK

    /// A reader of the contents of a grid's cells.
    @MainActor struct CellReader {
        let window: Widget
        let grid: ImageGrid

        /// Returns the contents of the cells whose images have a number and are completely visible.
        func read() -> [CellReading] {
            var view = graphene_rect_t()
            guard gtk_widget_compute_bounds(grid.widget, window, &view) != 0 else { return [] }
            var (left, top) = (0.0, 0.0)
            gtk_native_get_surface_transform(window.opaque, &left, &top)
            return grid.boundCells.compactMap { position, cell in
                let imageView = Widget(cell.imageView.widget)
                var bounds = graphene_rect_t()
                guard let expected = cell.item?.number, gtk_widget_get_mapped(imageView) != 0,
                    gtk_widget_compute_bounds(imageView, window, &bounds) != 0,
                    bounds.origin.y >= view.origin.y,
                    bounds.origin.y + bounds.size.height <= view.origin.y + view.size.height
                else { return nil }
                return CellReading(
                    position: position, expected: expected, found: cell.imageView.texture.flatMap(number),
                    isFailed: cell.state == .failed, hasImage: cell.imageView.texture != nil,
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

    /// The contents of a visible cell, according to the pixels that GTK holds.
    struct CellReading: Codable {
        var position: Int
        /// The number of the image that the cell should show.
        var expected: Int
        /// The number encoded in the pixels; nil if there is no image or the number is not readable.
        var found: Int?
        var isFailed: Bool
        var hasImage: Bool
        /// The position and size of the image in the window's surface, in points.
        var x: Double
        var y: Double
        var width: Double
        var height: Double
    }

    /// A checker that looks at the visible cells in many frames and reports cells that show the image of another cell.
    @MainActor final class CellWatch {
        struct Report: Codable {
            /// The number of checked frames.
            var frames = 0
            /// The number of cells with an image in these frames.
            var images = 0
            /// The cells that showed a wrong image.
            var wrong: [CellReading] = []
        }

        private static let period = 2

        private(set) var report = Report()
        private let reader: CellReader
        private var frame = 0

        init(reader: CellReader) { self.reader = reader }

        func start() { report = Report() }

        /// Checks the cells in every second frame. Called for each frame before it is laid out and drawn.
        func frameBegins() {
            frame += 1
            guard frame.isMultiple(of: Self.period) else { return }
            report.frames += 1
            for cell in reader.read() where cell.hasImage {
                report.images += 1
                if cell.found != cell.expected { report.wrong.append(cell) }
            }
        }
    }
#endif
