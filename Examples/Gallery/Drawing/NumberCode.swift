#if GTK
    import Alcedo

    /// A number encoded as dark and bright blocks in a corner of an image, with a checksum. A test can identify an
    /// image on screen by its pixels; Examples/Gallery/gtk-window-test also reads the code.
    ///
    /// The code has three rows of eight blocks, in row order: sixteen bits of the number, most significant bit first,
    /// then eight bits of the checksum.
    struct NumberCode: Equatable {
        private static let columns = 8
        private static let rows = 3
        /// The area of the blocks, as fractions of the image's sides.
        private static let area = (left: 0.70, top: 0.84, width: 0.26, height: 0.12)
        private static let levels: (dark: UInt8, bright: UInt8) = (16, 240)

        /// The number, from 0 to 65,535.
        let number: Int

        init(number: Int) { self.number = number & 0xFFFF }

        private var bits: Int { number << 8 | Self.checkSum(number) }

        private static func checkSum(_ number: Int) -> Int { (number &* 167 &+ number >> 8 &* 59 &+ 91) & 0xFF }

        /// Calls `set` for each pixel of the code and of the border around it.
        func draw(in size: PixelSize, set: (_ x: Int, _ y: Int, _ level: UInt8) -> Void) {
            let (width, height) = (Double(size.width), Double(size.height))
            let edge = Self.area.width / Double(Self.columns) / 2
            for y in Int((Self.area.top - edge) * height)..<Int((Self.area.top + Self.area.height + edge) * height) {
                for x in Int((Self.area.left - edge) * width)..<Int((Self.area.left + Self.area.width + edge) * width) {
                    let column = Int(((Double(x) + 0.5) / width - Self.area.left) / Self.area.width * 8 + 8) - 8
                    let row = Int(((Double(y) + 0.5) / height - Self.area.top) / Self.area.height * 3 + 3) - 3
                    set(x, y, isBright(column, row) ? Self.levels.bright : Self.levels.dark)
                }
            }
        }

        private func isBright(_ column: Int, _ row: Int) -> Bool {
            guard (0..<Self.columns).contains(column), (0..<Self.rows).contains(row) else { return false }
            return bits >> (Self.columns * Self.rows - 1 - row * Self.columns - column) & 1 == 1
        }

        /// Reads the code from an image; nil if there is no code or it is not readable.
        ///
        /// - Parameters:
        ///   - size: The size of the image.
        ///   - level: A closure that returns the brightness of a pixel.
        init?(in size: PixelSize, level: (_ x: Int, _ y: Int) -> UInt8) {
            var bits = 0
            for index in 0..<Self.columns * Self.rows {
                let (row, column) = index.quotientAndRemainder(dividingBy: Self.columns)
                let x = Self.area.left + Self.area.width * (Double(column) + 0.5) / Double(Self.columns)
                let y = Self.area.top + Self.area.height * (Double(row) + 0.5) / Double(Self.rows)
                let bright = level(Int(x * Double(size.width)), Int(y * Double(size.height)))
                guard bright < 96 || bright > 160 else { return nil }
                bits = bits << 1 | (bright > 128 ? 1 : 0)
            }
            self.init(number: bits >> 8)
            guard bits & 0xFF == Self.checkSum(number) else { return nil }
        }
    }
#endif
