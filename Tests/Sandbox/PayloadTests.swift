#if Sandbox
    import AlcedoCore
    import AlcedoTesting
    import CSandboxShim
    import Foundation
    import Testing

    @testable import AlcedoSandbox

    /// The messages between the app and a worker, without processes.
    @Suite struct PayloadTests {
        private static let info: ImageInfo = {
            var metadata = ImageMetadata(
                colorProfile: Data("a profile of odd length".utf8), exif: Data(), iptcDigest: Data(count: 16))
            metadata.hasIgnoredColorProfile = true
            var info = ImageInfo(
                format: .webp, size: PixelSize(width: 40, height: 30), orientation: .right, hasAlpha: true,
                bitDepth: 16, colorModel: .yCbCr, frameCount: 2, loopCount: 3,
                delays: [.milliseconds(50), .seconds(2)], metadata: metadata)
            info.pageCount = 3
            return info
        }()

        private static func written(_ write: (inout PayloadWriter) -> Void) -> [UInt8] {
            [UInt8](unsafeUninitializedCapacity: 4_096) { memory, count in
                var payload = PayloadWriter(UnsafeMutableRawBufferPointer(memory))
                write(&payload)
                count = payload.count
            }
        }

        private static func read<Value>(
            _ bytes: [UInt8], _ body: (inout PayloadReader) throws -> Value
        ) throws -> Value {
            try bytes.withUnsafeBytes { memory in
                var payload = try PayloadReader(memory, count: UInt64(memory.count))
                return try body(&payload)
            }
        }

        private static func readInfo(_ bytes: [UInt8]) throws -> ImageInfo {
            try read(bytes) { try ImageInfo(from: &$0, limits: DecodingLimits()) }
        }

        @Test func `the properties of an image are read as they were written`() throws {
            let bytes = Self.written { Self.info.write(to: &$0) }

            #expect(try Self.readInfo(bytes) == Self.info)
        }

        @Test(arguments: [
            ColorDescription(primaries: 12, transfer: 16, isFullRange: false), ColorDescription(.p3, .power(2.2)),
            ColorDescription(.bt709, .hlg),
        ])
        func `a color description is read as it was written`(description: ColorDescription?) throws {
            var info = Self.info
            info.colorDescription = description

            #expect(info.colorDescription != nil)
            #expect(try Self.readInfo(Self.written { info.write(to: &$0) }) == info)
        }

        @Test func `a color description with numbers out of range is a violation`() {
            var info = Self.info
            info.colorDescription = ColorDescription(.p3, .power(1e300))

            let bytes = Self.written { info.write(to: &$0) }

            #expect(throws: WorkerFailure.self) { try Self.readInfo(bytes) }
        }

        @Test func `the options of a request arrive unchanged`() {
            var options = DecodingOptions(alphaMode: .premultiplied, pixelFormat: .gray16, includesAnimation: false)
            (options.keepsInks, options.isFiltered) = (true, true)
            for range in DynamicRange.allCases {
                options.dynamicRange = range
                #expect(alcedo_sandbox_request(.decode, options).options == options)
            }
        }

        @Test func `inks are accepted in pixels of four bytes only`() throws {
            let bytes = Self.written { $0.append(1) }
            let options = Self.generousOptions

            #expect(try Self.read(bytes) { try $0.hasInks(in: .rgba8, options) })
            #expect(throws: WorkerFailure.self) { try Self.read(bytes) { try $0.hasInks(in: .rgba16, options) } }
        }

        /// Options that allow inks and partial images.
        private static let generousOptions: DecodingOptions = {
            var options = DecodingOptions(allowsPartial: true)
            options.keepsInks = true
            return options
        }()

        /// Returns an image as the app reads it from the memory of a worker.
        private static func readImage(
            _ image: DecodedImage, as format: ImageFormat, _ options: DecodingOptions
        ) throws -> DecodedImage {
            let layout = OutputLayout(capacity: 1)
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: layout.byteCount, alignment: 8)
            defer { memory.deallocate() }
            var payload = PayloadWriter(memory)
            image.write(to: &payload)
            var reply = alcedo_sandbox_reply(.image)
            reply.payload_count = UInt64(payload.count)
            reply.offset = UInt64(layout.copyOffset)
            reply.describe(image.size, image.pixels.format, image.pixels.alphaMode, image.orientation)
            let output = UnsafeRawBufferPointer(memory)
            var receiver = PixelReceiver(options.limits)
            let pixels = try receiver.finish(reply, in: output)
            return try DecodedImage(reply, pixels, in: output, of: format, options) { _ in
                preconditionFailure("the image is still")
            }
        }

        @Test func `inks, a partial image and another format are violations unless they are requested`() throws {
            let pixels = DecodedImage.coordinates(PixelSize(width: 4, height: 4)).pixels
            let plain = DecodedImage(pixels: pixels, format: .png)
            var inks = plain
            inks.hasInks = true
            var partial = plain
            partial.partialError = ImageDecodingError(.truncated, "the data ends")

            for image in [plain, inks, partial] {
                let result = try Self.readImage(image, as: .png, Self.generousOptions)
                #expect(result.hasInks == image.hasInks)
                #expect(result.partialError == image.partialError)
            }
            #expect(try Self.readImage(plain, as: .png, DecodingOptions()).format == .png)
            for image in [inks, partial] {
                #expect(throws: WorkerFailure.self) { try Self.readImage(image, as: .png, DecodingOptions()) }
            }
            for options in [DecodingOptions(), Self.generousOptions] {
                #expect(throws: WorkerFailure.self) { try Self.readImage(plain, as: .jpeg, options) }
            }
        }

        @Test func `every prefix of the properties is a violation`() {
            let bytes = Self.written { Self.info.write(to: &$0) }

            for count in bytes.indices {
                #expect(throws: WorkerFailure.self) { try Self.readInfo(Array(bytes.prefix(count))) }
            }
        }

        @Test func `changed properties are read or are a violation`() throws {
            let bytes = Self.written { Self.info.write(to: &$0) }
            var random = SplitMix64(seed: 1)
            for _ in 0..<5_000 {
                var changed = bytes
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    changed[Int.random(in: changed.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                do {
                    let info = try Self.readInfo(changed)
                    #expect(info.size.isPositive)
                    #expect(info.delays.count <= DecodingLimits().maximumFrameCount)
                } catch is WorkerFailure {}
            }
        }

        @Test(arguments: [
            ImageDecodingError.Code.empty, .unknownFormat, .truncated, .corrupt, .unsupportedVariant, .exceedsLimit,
            .timedOut, .outOfMemory, .decoderFailed, .decoderUnavailable,
        ])
        func `an error keeps its code and message`(code: ImageDecodingError.Code) throws {
            let error = ImageDecodingError(code, "the reason")

            let result = try Self.read(Self.written { error.write(to: &$0) }) { try ImageDecodingError(from: &$0) }

            #expect(result == error)
        }

        @Test func `an unknown code of an error is a violation`() {
            let bytes = Self.written {
                $0.append("invented")
                $0.append("the reason")
            }

            #expect(throws: WorkerFailure.self) { try Self.read(bytes) { try ImageDecodingError(from: &$0) } }
        }

        @Test func `a message for logs is short and has no control characters`() throws {
            let error = ImageDecodingError(.corrupt, "line\n\u{1B}[2J" + String(repeating: "x", count: 2_000))

            let result = try Self.read(Self.written { error.write(to: &$0) }) { try ImageDecodingError(from: &$0) }

            #expect(result.message.hasPrefix("line  [2Jxxx"))
            #expect(result.message.utf8.count == 1_000)
        }

        @Test func `a text that does not fit makes the payload full`() {
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 8)
            defer { memory.deallocate() }
            var payload = PayloadWriter(memory)

            payload.append("123456789")

            #expect(payload.isFull)
            #expect(payload.count <= 16)
        }

        @Test func `the natural size of a vector image can exceed the limits`() throws {
            let size = PixelSize(width: 1_000_000_000, height: 1_000_000_000)
            let info = ImageInfo(format: ImageFormat(rawValue: "svg"), size: size)

            #expect(try Self.readInfo(Self.written { info.write(to: &$0) }) == info)
        }

        @Test func `metadata beyond the limit is a violation`() throws {
            let limits = DecodingLimits(maximumMetadataByteCount: 100_000)
            for count in [100_000, 100_001] {
                let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 110_000, alignment: 8)
                defer { memory.deallocate() }
                var writer = PayloadWriter(memory)
                let data: Data? = Data(count: count)
                writer.append(data)
                var reader = try PayloadReader(UnsafeRawBufferPointer(memory), count: UInt64(writer.count))

                let result = try? reader.metadata(limits)

                #expect(result?.count == (count == 100_000 ? count : nil))
            }
        }

        @Test func `pixels have at most the bytes of an image`() throws {
            let layout = OutputLayout(capacity: 1)
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: layout.byteCount, alignment: 8)
            defer { memory.deallocate() }
            let output = UnsafeRawBufferPointer(memory)
            let reply = alcedo_sandbox_reply()

            #expect(try reply.part(of: output, count: layout.capacity).count == layout.capacity)
            #expect(throws: WorkerFailure.self) { try reply.part(of: output, count: layout.capacity + 1) }
        }

        @Test(arguments: [(1 << 40, 1), (1, 1 << 40), (Int64.max, Int64.max), (0, 5), (-3, -3)])
        func `a size that the limits allow can still be a violation`(width: Int64, height: Int64) {
            var reply = alcedo_sandbox_reply()
            (reply.width, reply.height, reply.orientation) = (width, height, 1)
            let limits = DecodingLimits(maximumPixelCount: .max)

            #expect(throws: WorkerFailure.self) { try reply.checkedHeader(limits) }
        }
    }
#endif
