#if Sandbox
    import AlcedoCore
    import FoundationEssentials

    /// A decoder of a format with pages. The width of a page is its index plus one.
    struct PagedDecoder: PageDecoding {
        static let format = ImageFormat(rawValue: "paged")

        var page = 0

        func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
            guard (0..<3).contains(page) else {
                throw ImageDecodingError(.unsupportedVariant, "there is no page \(page)")
            }
            var info = ImageInfo(format: Self.format, size: PixelSize(width: page + 1, height: 1))
            info.pageCount = 3
            return WholeImageReader(info) { [info] _ throws(ImageDecodingError) in
                let pixels = PixelBuffer(size: info.size, format: .gray8, alphaMode: .opaque) { memory, _ in
                    memory.initializeMemory(as: UInt8.self, repeating: 9)
                }
                guard let pixels else { throw ImageDecodingError(.outOfMemory, "no memory") }
                return DecodedImage(pixels: pixels, format: info.format)
            }
        }
    }
#endif
