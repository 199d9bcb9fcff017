#if GTK
    import AlcedoCore
    import Testing

    @testable import gallery

    /// The gallery's self test relies on this code, so misreading must be unlikely.
    @Suite struct NumberCodeTests {
        private func image(_ number: Int, _ size: PixelSize) -> [UInt8] {
            var levels = [UInt8](repeating: 128, count: size.pixelCount)
            NumberCode(number: number).draw(in: size) { x, y, level in levels[y * size.width + x] = level }
            return levels
        }

        @Test(arguments: [(400, 300), (176, 132), (112, 84)])
        func `a drawn number is read back`(width: Int, height: Int) {
            let size = PixelSize(width: width, height: height)
            for number in stride(from: 0, through: 65_535, by: 97) {
                let levels = image(number, size)
                #expect(NumberCode(in: size) { levels[$1 * width + $0] }?.number == number)
            }
        }

        @Test func `reading the number of an image without a code returns nil`() {
            let size = PixelSize(width: 400, height: 300)

            #expect(NumberCode(in: size) { _, _ in 128 } == nil)
            #expect(NumberCode(in: size) { _, _ in 0 } == nil)
            #expect(NumberCode(in: size) { _, _ in 255 } == nil)
        }

        @Test func `a number changed in one place is not read as another`() {
            let size = PixelSize(width: 80, height: 60)
            for number in [0, 1, 4_999, 40_000] {
                for block in 0..<16 {
                    var levels = image(number, size)
                    let other = image(number ^ 1 << (15 - block), size)
                    // The block alone, without its checksum.
                    for y in 0..<60 where y < 56 {
                        for x in 0..<80 where levels[y * 80 + x] != other[y * 80 + x] && isNumber(y) {
                            levels[y * 80 + x] = other[y * 80 + x]
                        }
                    }
                    #expect(NumberCode(in: size) { levels[$1 * 80 + $0] } == nil)
                }
            }
        }

        /// Returns whether a row belongs to the two upper rows of blocks, of three.
        private func isNumber(_ y: Int) -> Bool { Double(y) < 60 * (0.84 + 0.08) }

        @Test(arguments: 0..<8) func `every landscape shows its number in its own format`(number: Int) throws {
            let file = SceneFile(number: number)
            let image = try #require(ScenePainter(number: number).paint(number: number))
            let read = image.pixels.withUnsafeBytes { bytes in
                NumberCode(in: image.size) { x, y in bytes[y * image.pixels.bytesPerRow + x * 4] }?.number
            }

            #expect(read == number)
            #expect(try file.encoded().count > 1_000)
        }
    }
#endif
