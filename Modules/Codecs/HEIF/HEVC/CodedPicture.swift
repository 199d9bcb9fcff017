#if HEIF
    import AlcedoBoxes
    import AlcedoCore

    /// One coded picture: an image, a tile or a frame.
    struct CodedPicture {
        /// The offsets of the parts of the bitstream in the file.
        let extents: [Range<Int>]
        let configuration: HEVCConfiguration

        /// The maximum number of slices, which is the largest that a level allows. libde265 keeps the header of each.
        /// Source: ITU-T H.265, table A.8.
        private static let maximumSliceCount = 600

        /// The offset after the last byte that the picture needs.
        var end: Int { extents.map(\.upperBound).max() ?? 0 }

        var streamByteCount: Int { extents.reduce(0) { $0 + $1.count } }

        /// Returns the NAL units of the picture for libde265, each after its length in four bytes: the parameter sets
        /// and the slices of one picture, whose size is known.
        ///
        /// - Throws: `truncated` when bytes are missing, `corrupt` for damaged units, `exceedsLimit` for too many
        ///   slices or parameter sets, `unsupportedVariant` for a picture that may refer to others.
        func units(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) -> [UInt8] {
            guard end <= bytes.count else {
                throw ImageDecodingError(.truncated, "HEIF: the data ends within the image")
            }
            guard streamByteCount <= bytes.count else {
                throw ImageDecodingError(.corrupt, "HEIF: the parts of an image overlap")
            }
            if extents.count == 1 { return try units(of: UnsafeBufferPointer(rebasing: bytes[extents[0]])) }
            let joined = extents.flatMap { bytes[$0] }
            return try joined.withUnsafeBufferPointer { (joined) throws(ImageDecodingError) in
                try units(of: joined)
            }
        }

        private func units(of stream: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) -> [UInt8] {
            var units = configuration.parameterSets
            units.reserveCapacity(units.count + stream.count)
            var reader = BoxReader(stream, 0..<stream.count)
            var pictureCount = 0
            var sliceCount = 0
            var parameterSetCount = configuration.parameterSetCount
            while !reader.rest.isEmpty {
                let count = try reader.number(configuration.lengthSize)
                guard count <= reader.rest.count else {
                    throw ImageDecodingError(.corrupt, "HEIF: a unit of the bitstream is incomplete")
                }
                let range = reader.position..<reader.position + count
                try reader.skip(count)
                guard let unit = NALUnit(stream[range]) else {
                    throw ImageDecodingError(.corrupt, "HEIF: a unit of the bitstream has an invalid header")
                }
                guard unit.isInBaseLayer else { continue }
                if unit.beginsPicture { pictureCount += 1 }
                if pictureCount > 1 { break }
                if unit.type == 33 {
                    try configuration.sequence.check(SequenceParameterSet(stream[range].prefix(4_096)))
                }
                if unit.isSlice {
                    // libde265 would allocate a picture of this size for each picture that is missing.
                    guard unit.isIndependent else {
                        throw ImageDecodingError(.unsupportedVariant, "HEIF: a picture may refer to others")
                    }
                    sliceCount += 1
                } else if HEVCConfiguration.types.contains(unit.type) {
                    parameterSetCount += 1
                } else {
                    continue
                }
                guard
                    sliceCount <= Self.maximumSliceCount,
                    parameterSetCount <= HEVCConfiguration.maximumParameterSetCount
                else { throw ImageDecodingError(.exceedsLimit, "HEIF: a picture has too many parts") }
                units.append(number: count, 4)
                units += stream[range]
            }
            guard pictureCount > 0 else { throw ImageDecodingError(.corrupt, "HEIF: the image has no picture") }
            return units
        }
    }
#endif
