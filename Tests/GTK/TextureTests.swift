#if GTK
    import AlcedoCore
    import AlcedoGTK
    import CGTK
    import Testing

    @Suite struct TextureTests {
        /// Two rows of one pixel, so that the second row is found only by the stride.
        private func pixels(_ format: PixelFormat, _ mode: AlphaMode, _ rows: [[UInt16]]) throws -> PixelBuffer {
            let size = PixelSize(width: 1, height: rows.count)
            return try #require(
                PixelBuffer(size: size, format: format, alphaMode: mode) { memory, bytesPerRow in
                    for (y, row) in rows.enumerated() {
                        for (index, sample) in row.enumerated() {
                            if format == .rgba16 {
                                memory.storeBytes(
                                    of: sample * 257, toByteOffset: y * bytesPerRow + index * 2, as: UInt16.self)
                            } else {
                                memory[y * bytesPerRow + index] = UInt8(sample)
                            }
                        }
                    }
                })
        }

        /// Returns what GTK draws: premultiplied blue, green, red and alpha of each pixel in a column.
        private func drawn(_ pixels: PixelBuffer) throws -> [[UInt8]] {
            let texture = try #require(pixels.makeTexture())
            defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
            #expect(gdk_texture_get_width(texture) == 1)
            var bytes = [UInt8](repeating: 0, count: pixels.height * 4)
            gdk_texture_download(texture, &bytes, 4)
            return (0..<pixels.height).map { Array(bytes[$0 * 4..<$0 * 4 + 4]) }
        }

        @Test(arguments: [PixelFormat.rgba8, .rgba16])
        func `GTK draws straight and premultiplied alpha alike`(format: PixelFormat) throws {
            let straight = try pixels(format, .straight, [[255, 0, 0, 51], [10, 20, 30, 255]])
            let premultiplied = try pixels(format, .premultiplied, [[51, 0, 0, 51], [10, 20, 30, 255]])

            #expect(try drawn(straight) == [[0, 0, 51, 51], [30, 20, 10, 255]])
            #expect(try drawn(premultiplied) == [[0, 0, 51, 51], [30, 20, 10, 255]])
        }

        @Test(arguments: [PixelFormat.rgba8, .rgbx8, .rgba16])
        func `GTK draws opaque colors unchanged`(format: PixelFormat) throws {
            let opaque = try pixels(format, .opaque, [[1, 2, 3, 255], [200, 100, 0, 255]])

            #expect(try drawn(opaque) == [[3, 2, 1, 255], [0, 100, 200, 255]])
        }

        @Test func `GTK draws a gray image with equal channels`() throws {
            let gray = try pixels(.gray8, .opaque, [[7], [250]])

            #expect(try drawn(gray) == [[7, 7, 7, 255], [250, 250, 250, 255]])
        }

        @Test func `the pixels are shared until GTK releases them`() throws {
            var pixels = try pixels(.rgbx8, .opaque, [[1, 2, 3, 255]])
            let memory = pixels.withUnsafeBytes { $0.baseAddress }

            let bytes = try #require(pixels.makeBytes())
            #expect(g_bytes_get_data(bytes, nil) == memory)
            g_bytes_unref(bytes)

            // Changed in place, because nothing else references the memory any more.
            #expect(pixels.withUnsafeMutableBytes { UnsafeRawPointer($0.baseAddress) } == memory)
        }

        @Test func `an image changed later is not changed on screen`() throws {
            var pixels = try pixels(.rgbx8, .opaque, [[1, 2, 3, 255]])
            let bytes = try #require(pixels.makeBytes())
            defer { g_bytes_unref(bytes) }

            pixels.withUnsafeMutableBytes { $0[0] = 99 }

            let data = try #require(g_bytes_get_data(bytes, nil))
            #expect(data.load(as: UInt8.self) == 1)
        }
    }
#endif
