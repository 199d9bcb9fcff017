#if Sandbox
    import AlcedoCore
    import AlcedoLibc
    import CSandboxShim
    import FoundationEssentials

    /// A decoder whose file is the name of a misbehavior, or `gray` and a side for an ordinary image.
    struct HostileDecoder: ImageDecoding {
        static let format = ImageFormat(rawValue: "hostile")

        func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
            Reader(data)
        }
    }

    private final class Reader: ImageReading {
        private let data: Data
        private let side: Int
        let header: ImageHeader

        init(_ data: Data) {
            self.data = data
            let words = String(decoding: data, as: UTF8.self).split(separator: " ")
            side = words.dropFirst().first.flatMap { Int($0) } ?? 1
            header = ImageHeader(format: HostileDecoder.format, size: PixelSize(width: side, height: side))
        }

        func info() throws(ImageDecodingError) -> ImageInfo {
            try checkSize()
            return ImageInfo(format: header.format, size: header.size)
        }

        private func checkSize() throws(ImageDecodingError) {
            guard header.size.isPositive else {
                throw ImageDecodingError(.corrupt, "the size is \(side) x \(side) pixels")
            }
        }

        func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
            let words = String(decoding: data, as: UTF8.self).split(separator: " ").map(String.init)
            guard let word = words.first else { throw ImageDecodingError(.empty, "the data is empty") }
            guard word == "gray" else {
                if let crash = Crash(rawValue: word) { crash.run() }
                if let call = ForbiddenCall(rawValue: word) { call.run() }
                if let early = EarlyRows(rawValue: word) { return try early.image() }
                if let forgery = Forgery(rawValue: word) { forgery.run() }
                try Excess(rawValue: word)?.run()
                try Permitted(rawValue: word)?.run()
                try KeptFile(rawValue: word)?.run()
                throw ImageDecodingError(.corrupt, "the misbehavior \(word) had no effect")
            }
            try checkSize()
            let pixels = PixelBuffer(size: header.size, format: .gray8, alphaMode: .opaque) {
                memory, _ in memory.initializeMemory(as: UInt8.self, repeating: UInt8(truncatingIfNeeded: side))
            }
            guard let pixels else { throw ImageDecodingError(.outOfMemory, "no memory") }
            return DecodedImage(pixels: pixels, format: header.format)
        }

        func decodeRows(_ options: DecodingOptions, into consumer: any PixelRowConsumer) throws -> ImageDamage? {
            let text = String(decoding: data, as: UTF8.self)
            guard text.hasPrefix("rows") else {
                let image = try decode(options)
                try consumer.begin(PixelRowHeader(size: image.size, format: .gray8, alphaMode: .opaque))
                for y in 0..<image.size.height { try consumer.consume(image.pixels.row(y)) }
                try consumer.finish()
                return nil
            }
            if let forgery = RowForgery(rawValue: text) {
                try forgery.run(consumer)
                return nil
            }
            // A header of four rows, and then as many rows as the file says.
            let row = [UInt8](repeating: 7, count: 4)
            try consumer.begin(PixelRowHeader(size: PixelSize(width: 4, height: 4), format: .gray8, alphaMode: .opaque))
            for _ in 0..<side { try consumer.consume(row.span.bytes) }
            try consumer.finish()
            return nil
        }
    }
#endif
