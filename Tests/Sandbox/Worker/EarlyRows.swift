#if Sandbox
    import AlcedoCore

    /// Reports the first half of an image of 2 MiB before the second half exists. The samples are 1 and then 2.
    enum EarlyRows: String {
        case early
        /// Gives the image up, and returns one of the same size whose samples are 3.
        case earlyDropped

        func image() throws(ImageDecodingError) -> DecodedImage {
            var pixels = try Self.pixels(1)
            pixels.reportRows(pixels.height / 2)
            pixels.withUnsafeMutableBytes { memory in
                let half = UnsafeMutableRawBufferPointer(rebasing: memory[(memory.count / 2)...])
                half.initializeMemory(as: UInt8.self, repeating: 2)
            }
            if self == .earlyDropped {
                // The second buffer takes the same memory, so the first one must be gone.
                pixels = try Self.pixels(0, side: 1)
                pixels = try Self.pixels(3)
            }
            return DecodedImage(pixels: pixels, format: HostileDecoder.format)
        }

        private static func pixels(_ sample: UInt8, side: Int = 1_448) throws(ImageDecodingError) -> PixelBuffer {
            let size = PixelSize(width: side, height: side)
            let pixels = PixelBuffer(size: size, format: .gray8, alphaMode: .opaque) { memory, _ in
                memory.initializeMemory(as: UInt8.self, repeating: sample)
            }
            guard let pixels else { throw ImageDecodingError(.outOfMemory, "no memory") }
            return pixels
        }
    }
#endif
