#if HEIF
    import AlcedoCore
    import FoundationEssentials

    /// The decoder of `CodecRegistry.Entry.heifInProcess(timeLimit:)`.
    ///
    /// This module reads the boxes of the file, and passes the parameter sets and slices of each coded picture to
    /// libde265, the decoder of HEVC in libheif. It joins tiles, applies alpha and converts color itself.
    ///
    /// The image is cropped, rotated and mirrored as the properties `clap`, `irot` and `imir` state, in the order of
    /// the file. Rotation and mirroring are the orientation. The orientation in EXIF or XMP is not applied, because the
    /// format repeats it there for information only. Source: ISO/IEC 23008-12.
    ///
    /// One row of tiles is decoded at a time, so the planes of the whole image are never in memory, unless it is one
    /// coded picture.
    struct HEIFDecoder: ImageDecoding {
        /// The default of ``timeLimit``, which is also that of a sandbox.
        static let defaultTimeLimit = Duration.seconds(30)

        /// The maximum time that libde265 may take for one image, and for each preview.
        let timeLimit: Duration

        /// Reads the properties from the boxes. The data may be the beginning of a file that contains them.
        ///
        /// - Throws: ``/AlcedoCore/ImageDecodingError``: `truncated` when the boxes are incomplete.
        /// - Complexity: O(boxes and items). libde265 is not used.
        func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
            try OpenedHEIF(data, limits: limits, timeLimit: timeLimit)
        }

        func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding {
            IncrementalDecoder(HEIFDecodingState(options: options, timeLimit: timeLimit))
        }
    }
#endif
