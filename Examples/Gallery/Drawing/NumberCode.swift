#if GTK
    import Alcedo

    /// A number as dark and bright blocks in a corner of a picture, with a check sum: so that a test can tell from the
    /// pixels on screen which picture they are. Scripts/gtk-window-test reads it too.
    ///
    /// Three rows of eight blocks, row by row: sixteen bits of the number, the highest first, and eight of the check sum.
    struct NumberCode: Equatable {
        private static let columns = 8
        private static let rows = 3
        /// Where the blocks are, in parts of the picture's sides.
        private static let area = (left: 0.70, top: 0.84, width: 0.26, height: 0.12)
        private static let levels: (dark: UInt8, bright: UInt8) = (16, 240)

        /// Up to 65,535.
        let number: Int

        init(number: Int) { self.number = number & 0xFFFF }

        private var bits: Int { number << 8 | Self.checkSum(number) }

        private static func checkSum(_ number: Int) -> Int { (number &* 167 &+ number >> 8 &* 59 &+ 91) & 0xFF }

        /// Calls `set` for each pixel of the code and of the edge around it.
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

        /// Reads the code from a picture; nil when there is none, or it is not clear.
        ///
        /// - Parameter level: The brightness of a pixel.
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
