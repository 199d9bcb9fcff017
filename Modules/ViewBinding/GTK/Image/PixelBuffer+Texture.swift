#if GTK
    package import AlcedoCore
    import CGTK

    extension PixelBuffer {
        /// Keeps pixels alive for as long as C code reads them.
        private final class Owner: Sendable {
            let pixels: PixelBuffer

            init(_ pixels: PixelBuffer) { self.pixels = pixels }
        }

        /// A `GdkTexture` of these pixels, which the caller has to release with `g_object_unref`.
        ///
        /// Shares the memory, whatever the format but `gray8`, which GTK before 4.12 does not know and which is
        /// written out as four bytes a pixel first. Any thread.
        ///
        /// - Returns: nil when a side is longer than GTK counts.
        package func makeTexture() -> OpaquePointer? {
            guard let width = Int32(exactly: width), let height = Int32(exactly: height) else { return nil }
            let memoryFormat: GdkMemoryFormat
            switch (format, alphaMode) {
            case (.gray8, _): return colored()?.makeTexture()
            // For opaque pixels the two modes are one. GTK's software renderer, which converts a picture whenever it draws it,
            // has a quick way for straight ones only; premultiplied ones go through floating point.
            case (.rgbx8, _), (.rgba8, .opaque), (.rgba8, .straight): memoryFormat = GDK_MEMORY_R8G8B8A8
            case (.rgba8, .premultiplied): memoryFormat = GDK_MEMORY_R8G8B8A8_PREMULTIPLIED
            case (.rgba16, .straight): memoryFormat = GDK_MEMORY_R16G16B16A16
            case (.rgba16, _): memoryFormat = GDK_MEMORY_R16G16B16A16_PREMULTIPLIED
            }
            let bytes = makeBytes()
            defer { g_bytes_unref(bytes) }
            return gdk_memory_texture_new(width, height, memoryFormat, bytes, gsize(bytesPerRow))
        }

        /// A `GBytes` over the pixels' own memory, which the caller has to release.
        package func makeBytes() -> OpaquePointer? {
            let owner = Unmanaged.passRetained(Owner(self))
            // The pointer outlives the closure, but not the memory: the owner's copy of this value holds it, and as
            // that copy is never changed, nobody writes to memory that it shares.
            return withUnsafeBytes { bytes in
                g_bytes_new_with_free_func(
                    bytes.baseAddress, gsize(bytes.count), { $0.map { Unmanaged<Owner>.fromOpaque($0).release() } },
                    owner.toOpaque())
            }
        }

        /// The same picture as `rgbx8`, of a gray one.
        private func colored() -> PixelBuffer? {
            PixelBuffer(size: size, format: .rgbx8, alphaMode: .opaque) { memory, bytesPerRow in
                for y in 0..<height {
                    let row = row(y)
                    for x in 0..<width {
                        let gray = row.unsafeLoad(fromByteOffset: x, as: UInt8.self)
                        memory.storeBytes(
                            of: SIMD4(gray, gray, gray, 255), toByteOffset: y * bytesPerRow + x * 4,
                            as: SIMD4<UInt8>.self)
                    }
                }
            }
        }
    }
#endif
