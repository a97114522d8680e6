// Texture and surface objects.
__global__ void Textures(cudaTextureObject_t t, float4 *o) {
  o[0] = tex2D<float4>(t, 1.f, 2.f);
  o[1] = tex1Dfetch<float4>(t, 3);
  o[2] = tex3D<float4>(t, 1, 2, 3);
  o[3] = tex2DLod<float4>(t, 1, 2, 3);
  o[4] = tex2DGrad<float4>(t, 1, 2, make_float2(1, 2), make_float2(3, 4));
  o[5] = texCubemap<float4>(t, 1, 2, 3);
  o[6] = tex2DLayered<float4>(t, 1, 2, 3);
  o[7] = tex2Dgather<float4>(t, 1, 2, 1);
}

__global__ void Surfaces(cudaSurfaceObject_t s, int *o) {
  int x;
  surf2Dread(&x, s, 4, 5);
  surf2Dwrite(x, s, 4, 6);
  surf3Dwrite(make_int4(1, 2, 3, 4), s, 1, 2, 3);
  short2 pair;
  surf2DLayeredread(&pair, s, 1, 2, 3);
  o[0] = x + pair.x;
}
