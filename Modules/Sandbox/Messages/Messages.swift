#if Sandbox
    import AlcedoCore
    import CSandboxShim

    /// The requests of the app to a worker.
    enum RequestKind: UInt32 {
        /// Opens an image, of which the next messages ask.
        case open = 1
        case info, measure
        /// Decodes the opened image, and releases it.
        case decode, rows
        /// Releases the opened image, without a reply.
        case close
        case frame
        /// The app has copied the rows of a message.
        case proceed
        /// The app has received the rows of a message and needs no further rows.
        case cancel
        /// Converts a file. The name is that of the conversion.
        case convert
    }

    /// The replies of a worker to the app.
    enum ReplyKind: UInt32 {
        case ready = 1, info, count, image, rowHeader, rows, done, failure, unknownSession
        /// The first rows of the image are final, and the app can copy them while the worker decodes the others.
        case finishedRows
        /// The rows that were finished belong to an attempt that the decoder has given up.
        case noFinishedRows
        /// A damaged frame ended the animation before the requested frame.
        case ended
        /// The header of the image has been read.
        case opened
        /// The bytes that a conversion has made. Their number is the value.
        case converted
    }

    /// The arrangement of the memory that carries names and encoded images to a worker.
    struct InputLayout: Sendable {
        /// The maximum number of bytes in the name of a format.
        static let nameByteCount = 64
        /// The offset of the encoded image.
        static let dataOffset = nameByteCount

        let capacity: Int
        var byteCount: Int { Self.dataOffset + capacity }

        init(capacity: Int) { self.capacity = OutputLayout.rounded(capacity) }
    }

    /// The arrangement of the memory that carries pixels and everything else to the app.
    ///
    /// The payload is first. It holds strings, profiles and lists. Two areas of the same size follow: one that a
    /// decoder's pixel buffer uses directly, and one for pixels that are copied.
    struct OutputLayout: Sendable {
        static let payloadByteCount = 16 << 20

        /// The number of bytes in each of the two areas.
        let capacity: Int
        var directOffset: Int { Self.payloadByteCount }
        var copyOffset: Int { directOffset + capacity }
        var byteCount: Int { copyOffset + capacity }

        init(capacity: Int) { self.capacity = Self.rounded(capacity) }

        /// Creates the arrangement of memory that has the byte count of another one.
        init(byteCount: Int) { self.init(capacity: (byteCount - Self.payloadByteCount) / 2) }

        /// The minimum number of bytes of the rows that a message reports as finished.
        static let reportByteCount = 128 << 10

        /// Returns the number of rows in one message: about 256 KiB, and at least one row.
        static func rowsPerPiece(bytesPerRow: Int) -> Int { max(1, (256 << 10) / max(1, bytesPerRow)) }

        /// Returns the number of bytes of whole pages, which have at most 64 KiB.
        static func rounded(_ byteCount: Int) -> Int {
            let unit = 64 << 10
            return (min(max(1, byteCount), 1 << 40) + unit - 1) / unit * unit
        }
    }

    /// The codes of enumerations that have no raw value of a fixed size.
    enum Codes {
        static let alphaModes: [AlphaMode] = [.opaque, .straight, .premultiplied]
        static let colorModels: [ColorModel] = [.gray, .grayAlpha, .rgb, .rgba, .palette, .yCbCr, .cmyk, .ycck]

        static func code<Value: Equatable>(of value: Value, in values: [Value]) -> UInt8 {
            UInt8(truncatingIfNeeded: values.firstIndex(of: value) ?? 0)
        }

        /// Returns the value of a code, or nil for an unknown code.
        static func value<Value>(_ code: some BinaryInteger, in values: [Value]) -> Value? {
            guard let index = Int(exactly: code), values.indices.contains(index) else { return nil }
            return values[index]
        }
    }

    extension alcedo_sandbox_request {
        init(_ kind: RequestKind) {
            self.init()
            self.kind = kind.rawValue
        }

        init(_ kind: RequestKind, _ options: DecodingOptions) {
            self.init(kind)
            pixel_format = Codes.code(of: options.pixelFormat, in: PixelFormat.allCases)
            alpha_mode = Codes.code(of: options.alphaMode, in: Codes.alphaModes)
            flags =
                (options.appliesOrientation ? 1 : 0) | (options.includesAnimation ? 2 : 0) | (options.keepsInks ? 4 : 0)
                | (options.isFiltered ? 8 : 0) | (options.dynamicRange == .high ? 16 : 0)
            tolerance = UInt8(options.tolerance.rawValue)
            limits = (
                Int64(options.limits.maximumPixelCount), Int64(options.limits.maximumByteCount),
                Int64(options.limits.maximumMetadataByteCount), Int64(options.limits.maximumChunkByteCount),
                Int64(options.limits.maximumFrameCount), Int64(options.limits.maximumTotalPixelCount)
            )
            if let size = options.target {
                target_mode = size.mode == .fit ? 1 : 2
                target = (Int64(size.size.width), Int64(size.size.height))
            }
        }

        /// The options of the request. The app, which the worker trusts, has written them.
        var options: DecodingOptions {
            let size = PixelSize(width: Int(target.0), height: Int(target.1))
            var options = DecodingOptions(
                limits: DecodingLimits(
                    maximumPixelCount: Int(limits.0), maximumByteCount: Int(limits.1),
                    maximumMetadataByteCount: Int(limits.2), maximumChunkByteCount: Int(limits.3),
                    maximumFrameCount: Int(limits.4), maximumTotalPixelCount: Int(limits.5)),
                alphaMode: Codes.value(alpha_mode, in: Codes.alphaModes) ?? .straight,
                appliesOrientation: flags & 1 != 0,
                target: target_mode == 0 ? nil : TargetSize(size, mode: target_mode == 1 ? .fit : .fill),
                pixelFormat: Codes.value(pixel_format, in: PixelFormat.allCases) ?? .rgba8,
                tolerance: DamageTolerance(rawValue: Int(tolerance)) ?? .harmless,
                includesAnimation: flags & 2 != 0)
            options.keepsInks = flags & 4 != 0
            options.isFiltered = flags & 8 != 0
            options.dynamicRange = flags & 16 != 0 ? .high : .standard
            return options
        }
    }

    extension alcedo_sandbox_reply {
        init(_ kind: ReplyKind) {
            self.init()
            self.kind = kind.rawValue
        }
    }
#endif
