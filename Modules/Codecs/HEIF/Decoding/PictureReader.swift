#if HEIF
    import AlcedoCore
    import AlcedoRuntime
    import CHEIFShim

    /// The decoded rows of an image, from the top. For a grid, one row of tiles is in memory at a time.
    final class PictureReader {
        private let picture: HEIFPicture
        private let bytes: UnsafeBufferPointer<UInt8>
        private let time: DecodingTime
        /// The planes of the current row of tiles, with the last rows of the one before.
        private var planes = alcedo_heif_planes()
        /// The row of the image that is the first row of the planes.
        private var firstRow = 0
        /// The number of decoded rows of tiles.
        private var decodedTileRows = 0
        /// The picture that owns the planes, when there is only one.
        private var single: OpaquePointer?
        private var canvas: Canvas?
        /// The number of bytes of the decoded bitstreams.
        private var streamByteCount = 0

        /// The number of coded bytes that are decoded although the file is smaller, because its tiles share them.
        private static let uncheckedStreamByteCount = 64 << 20
        /// The number of rows of the row of tiles before that are kept, because color is interpolated between them.
        private static let carriedRowCount = 2

        /// Creates a reader. `bytes` must outlive it.
        init(_ picture: HEIFPicture, _ bytes: UnsafeBufferPointer<UInt8>, _ time: DecodingTime) {
            self.picture = picture
            self.bytes = bytes
            self.time = time
        }

        deinit { if let single { alcedo_heif_destroy(single) } }

        /// Decodes what row `y` needs. Rows must not be requested again after later ones.
        ///
        /// - Returns: The end of the rows that can be converted now.
        /// - Throws: ``/AlcedoCore/ImageDecodingError``.
        func load(_ y: Int) throws(ImageDecodingError) -> Int {
            while convertibleEnd <= y {
                // A single tile may exceed the image. It is then copied like others.
                if picture.isSingle { try decodeSingle() } else { try decodeTileRow(for: y) }
            }
            return convertibleEnd
        }

        /// The last row of a row of tiles needs the color of the next.
        private var convertibleEnd: Int {
            guard decodedTileRows > 0 else { return 0 }
            let end = decodedTileRows * picture.tileSize.height
            return end >= picture.size.height ? picture.size.height : end - 1
        }

        /// Writes loaded rows of the full width.
        func convert(
            _ rows: Range<Int>, to format: PixelFormat, _ memory: UnsafeMutableRawPointer, bytesPerRow: Int
        ) throws(ImageDecodingError) {
            let status = alcedo_heif_convert_color(
                &planes, format.samples, UInt32(rows.lowerBound - firstRow), UInt32(rows.count), memory, bytesPerRow)
            try Self.check(status, "cannot convert the pixels")
        }

        /// Replaces the alpha of rows by the loaded rows.
        func convertAlpha(
            _ rows: Range<Int>, to format: PixelFormat, _ memory: UnsafeMutableRawPointer, bytesPerRow: Int
        ) throws(ImageDecodingError) {
            let status = alcedo_heif_convert_alpha(
                &planes, format.samples, UInt32(rows.lowerBound - firstRow), UInt32(rows.count), memory, bytesPerRow)
            try Self.check(status, "cannot convert the alpha")
        }

        private func decodeSingle() throws(ImageDecodingError) {
            let decoded = try decode(picture.tiles[0])
            single = decoded
            planes = alcedo_heif_planes_of(decoded)
            try finishPlanes(size: picture.size)
            decodedTileRows = 1
        }

        /// Decodes the next row of tiles. Rows of tiles above row `y` that nothing needs are skipped.
        private func decodeTileRow(for y: Int) throws(ImageDecodingError) {
            let height = picture.tileSize.height
            // The row before needs this one, so it is decoded when its last row is requested.
            let row = decodedTileRows == 0 ? max(0, y - 1) / height : decodedTileRows
            let top = row * height
            let carried = row > 0 ? min(Self.carriedRowCount, top) : 0
            let end = min(picture.size.height, top + height)
            let next = try Canvas(picture, rowCount: end - top + carried)
            if let canvas, carried > 0 { next.copyLastRows(carried, of: canvas) }
            canvas = next
            planes = next.planes
            firstRow = top - carried
            try finishPlanes(size: PixelSize(width: picture.size.width, height: end - top + carried))
            for column in 0..<picture.columnCount {
                let x = column * picture.tileSize.width
                guard x < picture.size.width else { break }
                let decoded = try decode(picture.tiles[row * picture.columnCount + column])
                defer { alcedo_heif_destroy(decoded) }
                var tile = alcedo_heif_planes_of(decoded)
                try checkSize(tile, picture.tileSize)
                try Self.check(
                    alcedo_heif_copy_tile(&tile, &planes, UInt32(x), UInt32(carried)), "a tile differs from the others")
            }
            decodedTileRows = row + 1
        }

        /// Sets the color of the planes, and checks them.
        private func finishPlanes(size: PixelSize) throws(ImageDecodingError) {
            planes.primaries = UInt16(clamping: picture.color.primaries)
            planes.matrix = UInt16(clamping: picture.color.matrix)
            planes.is_full_range = picture.color.isFullRange ? 1 : 0
            try checkSize(planes, size)
            guard alcedo_heif_can_convert(&planes) != 0 else {
                throw ImageDecodingError(
                    .unsupportedVariant, "HEIF: the matrix \(picture.color.matrix) is not supported")
            }
        }

        private func checkSize(_ planes: alcedo_heif_planes, _ size: PixelSize) throws(ImageDecodingError) {
            guard Int(planes.width) == size.width, Int(planes.height) == size.height,
                Int(planes.depth) == picture.sequence.bitDepth, planes.chroma == picture.sequence.chroma.layout
            else { throw ImageDecodingError(.corrupt, "HEIF: a picture does not have the size in the header") }
        }

        private func decode(_ picture: CodedPicture) throws(ImageDecodingError) -> OpaquePointer {
            guard !BlockingExecutor.isWorkCanceled else { throw ImageDecodingError.canceled("HEIF") }
            let units = try picture.units(bytes)
            streamByteCount += picture.streamByteCount
            guard streamByteCount <= max(Self.uncheckedStreamByteCount, 2 * bytes.count) else {
                throw ImageDecodingError(.exceedsLimit, "HEIF: the tiles repeat too much of the file")
            }
            var decoded: OpaquePointer?
            var message: UnsafePointer<CChar>?
            let status = units.withUnsafeBufferPointer { units in
                units.baseAddress.map { alcedo_heif_decode($0, units.count, &time.rest, &decoded, &message) }
            }
            guard status != ALCEDO_HEIF_TIMEOUT else {
                throw ImageDecodingError(.timedOut, "HEIF: decoding takes longer than \(time.limit)")
            }
            let reason = message.map { String(cString: $0) } ?? ""
            try Self.check(status ?? ALCEDO_HEIF_CORRUPT, "cannot decode the image", reason)
            guard let decoded else { throw ImageDecodingError(.corrupt, "HEIF: cannot decode the image") }
            return decoded
        }

        private static func check(
            _ status: alcedo_heif_status, _ failure: String, _ reason: String = ""
        ) throws(ImageDecodingError) {
            guard status != ALCEDO_HEIF_OK else { return }
            let code: ImageDecodingError.Code =
                switch status {
                case ALCEDO_HEIF_UNSUPPORTED: .unsupportedVariant
                case ALCEDO_HEIF_OUT_OF_MEMORY: .outOfMemory
                default: .corrupt
                }
            throw ImageDecodingError(code, "HEIF: \(failure)" + (reason.isEmpty ? "" : ": \(reason)"))
        }
    }

    extension ChromaLayout {
        var layout: alcedo_heif_chroma {
            switch self {
            case .monochrome: ALCEDO_HEIF_MONOCHROME
            case .half: ALCEDO_HEIF_420
            case .halfWidth: ALCEDO_HEIF_422
            case .full: ALCEDO_HEIF_444
            }
        }
    }

    extension PixelFormat {
        fileprivate var samples: alcedo_heif_format {
            switch self {
            case .gray8: ALCEDO_HEIF_GRAY8
            case .gray16: ALCEDO_HEIF_GRAY16
            case .rgba16: ALCEDO_HEIF_RGBA16
            case .rgba8, .rgbx8: ALCEDO_HEIF_RGBA8
            }
        }
    }
#endif
