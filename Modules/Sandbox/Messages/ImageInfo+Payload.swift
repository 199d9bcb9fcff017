#if Sandbox
    import AlcedoCore
    import FoundationEssentials

    extension ImageInfo {
        func write(to payload: inout PayloadWriter) {
            payload.append(format.rawValue)
            payload.append(size.width)
            payload.append(size.height)
            payload.append(orientation.rawValue)
            payload.append(hasAlpha ? 1 : 0)
            payload.append(bitDepth)
            payload.append(Int64(Codes.code(of: colorModel, in: Codes.colorModels)))
            payload.append(frameCount)
            payload.append(pageCount)
            payload.append(loopCount)
            payload.append(delays.count)
            for delay in delays { payload.append(delay) }
            payload.append(metadata.colorProfile)
            payload.append(metadata.exif)
            payload.append(metadata.xmp)
            payload.append(metadata.iptc)
            payload.append(metadata.iptcDigest)
            payload.append(metadata.resolution == nil ? 0 : 1)
            if let resolution = metadata.resolution {
                payload.append(Int64(bitPattern: resolution.horizontal.bitPattern))
                payload.append(Int64(bitPattern: resolution.vertical.bitPattern))
            }
            payload.append(metadata.texts.count)
            for (keyword, text) in metadata.texts {
                payload.append(keyword)
                payload.append(Data(text.utf8))
            }
            payload.append(metadata.hasIgnoredColorProfile ? 1 : 0)
            payload.append(hasDamagedMetadata ? 1 : 0)
            payload.append(colorDescription == nil ? 0 : 1)
            colorDescription?.write(to: &payload)
        }

        /// Reads the properties that a worker found. Throws if they are impossible or exceed the limits. The size can
        /// exceed the limit of pixels, as the natural size of a vector image does.
        init(from payload: inout PayloadReader, limits: DecodingLimits) throws(WorkerFailure) {
            let format = try payload.format()
            let size = try PixelSize(
                width: payload.number(in: 1...Int(Int32.max)), height: payload.number(in: 1...Int(Int32.max)))
            guard let orientation = ImageOrientation(rawValue: try payload.number(in: 1...8)) else {
                throw .violation("an invalid orientation")
            }
            let hasAlpha = try payload.isPresent()
            let bitDepth = try payload.number(in: 1...64)
            guard let colorModel = Codes.value(try payload.number(), in: Codes.colorModels) else {
                throw .violation("an invalid color model")
            }
            let frames = max(1, limits.maximumFrameCount)
            let frameCount = try payload.number(in: 1...frames)
            let pageCount = try payload.number(in: 1...frames)
            self.init(
                format: format, size: size, orientation: orientation, hasAlpha: hasAlpha, bitDepth: bitDepth,
                colorModel: colorModel, frameCount: frameCount,
                loopCount: try payload.isPresent() ? payload.number(in: 0...Int(UInt32.max)) : nil,
                delays: try payload.durations(0...frames),
                metadata: ImageMetadata(
                    colorProfile: try payload.metadata(limits), exif: try payload.metadata(limits),
                    xmp: try payload.metadata(limits), iptc: try payload.metadata(limits),
                    iptcDigest: try payload.metadata(limits), resolution: try payload.resolution()))
            self.pageCount = pageCount
            for _ in 0..<(try payload.number(in: 0...ImageMetadata.maximumTextCount)) {
                let keyword = String(decoding: try payload.data().prefix(1_000), as: UTF8.self)
                metadata.texts[keyword] = try payload.metadata(limits).map { String(decoding: $0, as: UTF8.self) }
            }
            metadata.hasIgnoredColorProfile = try payload.isPresent()
            hasDamagedMetadata = try payload.isPresent()
            colorDescription = try payload.isPresent() ? ColorDescription(from: &payload) : nil
        }
    }

    extension ImageDecodingError {
        func write(to payload: inout PayloadWriter) {
            payload.append(code.rawValue)
            payload.append(message)
        }

        init(from payload: inout PayloadReader) throws(WorkerFailure) {
            guard let code = Code(rawValue: String(decoding: try payload.data(), as: UTF8.self)) else {
                throw .violation("an invalid error code")
            }
            self.init(code, try payload.message())
        }
    }
#endif
